"""An example input of a layer, and how it changes when nodes are renumbered or graphs are put side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import Module

from graphcon._validation import arguments_after_x, width

Role = Literal["edge_index", "hyperedge_index", "batch", "edge", "node", "other"]


@dataclass(frozen=True)
class Example:
    """What a layer is called with: the node features and the arguments by their names."""

    x: Tensor
    args: dict[str, Any]

    @classmethod
    def of(cls, layer: Module, x: Tensor | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> "Example":
        """The given example, or a small random graph as wide as the layer takes."""
        names = arguments_after_x(layer)
        if len(args) > len(names):
            raise TypeError(
                f"{len(args)} arguments after x, but forward of {layer} names {len(names)} ({', '.join(names)}): "
                "give the others by name, e.g. edge_weight=edge_weight"
            )
        named = dict(zip(names, args, strict=False)) | kwargs
        if x is not None:
            return cls(x.detach(), named)
        channels = width(layer)
        if channels is None:
            raise ValueError(
                f"{layer} does not tell its width (in_channels): give an example, check_coupling(layer, x, edge_index)"
            )
        generator = torch.Generator().manual_seed(0)
        if "edge_index" in names and "edge_index" not in named:
            ring = torch.arange(8)
            chords = torch.randint(8, (2, 12), generator=generator)
            named["edge_index"] = torch.cat([torch.stack([ring, ring.roll(1)]), chords], dim=1)
        x = torch.randn(8, channels, generator=generator)
        number = next((p.dtype for p in layer.parameters() if p.is_floating_point()), x.dtype)
        return cls(x.to(number), named)

    def call(self, layer: Callable[..., Any], x: Tensor | None = None) -> Any:
        """Runs the layer, or a GraphCON around it, on the example."""
        return layer(self.x if x is None else x, **self.args)

    def permuted(self, order: Tensor) -> "Example":
        """The same graph with its nodes renumbered: node ``order[i]`` becomes node i."""
        place = torch.empty_like(order)
        place[order] = torch.arange(len(order))

        def renumber(role: Role, value: Tensor) -> Tensor:
            if role == "edge_index":
                return place[value]
            if role == "hyperedge_index":
                return torch.stack([place[value[0]], value[1]])
            return value[order] if role in ("node", "batch") else value

        return self._change(self.x[order], renumber)

    def doubled(self, x: Tensor) -> "Example":
        """The graph beside itself, as one graph of two parts; the second has the node features x."""

        def double(role: Role, value: Tensor) -> Tensor:
            if role == "edge_index":
                return torch.cat([value, value + len(self.x)], dim=1)
            if role == "hyperedge_index":
                shift = torch.tensor([[len(self.x)], [int(value[1].max()) + 1]])
                return torch.cat([value, value + shift], dim=1)
            if role == "batch":
                return torch.cat([value, value + int(value.max()) + 1])
            return torch.cat([value, value]) if role in ("node", "edge") else value

        return self._change(torch.cat([self.x, x]), double)

    def _change(self, x: Tensor, change: Callable[[Role, Tensor], Tensor]) -> "Example":
        changed = {
            name: change(self._role(name, value), value) if isinstance(value, Tensor) else value
            for name, value in self.args.items()
        }
        return Example(x, changed)

    def _role(self, name: str, value: Tensor) -> Role:
        """What a tensor belongs to, by its name and then by its first dimension."""
        if name in ("hyperedge_index", "batch"):
            return name  # pyright: ignore[reportReturnType]  # it is one of the two
        if name.endswith("edge_index"):  # SignedConv has a pos_edge_index and a neg_edge_index
            return "edge_index"
        if name.startswith("hyperedge"):  # one row per hyperedge
            return "edge"
        edges = {value.size(1) for key, value in self.args.items() if key.endswith("edge_index")}
        if value.dim() and value.size(0) in edges and (name.startswith("edge") or value.size(0) != len(self.x)):
            return "edge"
        return "node" if value.dim() and value.size(0) == len(self.x) else "other"
