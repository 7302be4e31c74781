"""A trained model as a program that runs without this package, on graphs of any size."""

import io
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import Module

from graphcon import kernels
from graphcon._files import write_whole
from graphcon.errors import InputError
from graphcon.training.run import Trained

ARGUMENTS = ("x", "x_categories", "edge_index", "edge_weight", "edge_attr")
TOLERANCE = 1e-4


class ExportError(RuntimeError):
    """The exported program does not give what the model gives."""


def export(trained: Trained, out: Path) -> dict[str, Any]:
    """Writes a ``torch.export`` program and checks it against the model on a graph of another size.

    The program takes `ARGUMENTS` in that order, None for those the model does not need. A model for graphs takes one
    graph at a time. What is done to numbers before the model sees them is not in the program: ``x`` comes scaled, and
    divided by its sum where the recipe has ``data.normalize``.

    Args:
        trained: The model.
        out: The file, ``.pt2``.

    Returns:
        Which arguments the program needs, and how far it was off in the check.

    Raises:
        InputError: The model is of a kind that cannot be a program.
        ExportError: The check failed; nothing is written.
    """
    given = _given(trained)
    if "pos" in given:
        raise InputError(
            f"{trained.folder} was trained on the positions of nodes, which an exported program does not take. Use it "
            "with: graphcon predict"
        )
    program = _Program(trained.model.eval())
    wanted = _arguments(trained, given)
    small, other = _example(trained, wanted, 12, 37), _example(trained, wanted, 61, 205)
    nodes, edges = Dim("nodes", min=2), Dim("edges", min=2)
    sizes = {name: None if value is None else _dynamic(name, nodes, edges) for name, value in small.items()}
    with torch.no_grad(), kernels.disabled():  # the program must not need our kernels
        exported = _traced(program, small, sizes, trained.recipe.model.name)
        expected = program(*other.values())
        difference = float((exported.module()(*other.values()) - expected).abs().max())
        scale = float(expected.abs().max())
    if not difference <= TOLERANCE * max(scale, 1.0):
        raise ExportError(f"the program differs from the model by {difference:.2e} on a graph of another size")
    content = io.BytesIO()
    torch.export.save(exported, content)
    write_whole(out, content.getvalue())
    return {"arguments": {name: name in wanted for name in ARGUMENTS}, "difference": difference}


def _traced(program: Module, example: dict[str, Any], sizes: dict[str, Any], name: str) -> Any:
    try:
        return torch.export.export(program, tuple(example.values()), dynamic_shapes=sizes, strict=False)
    except NotImplementedError as error:
        raise InputError(f"{name} cannot be exported: {error}. Use it with: graphcon predict") from None


class _Program(Module):
    """The model with its arguments in a fixed order."""

    def __init__(self, model: Module):
        super().__init__()
        self.model = model

    def forward(
        self,
        x: Tensor | None,
        x_categories: Tensor | None,
        edge_index: Tensor,
        edge_weight: Tensor | None,
        edge_attr: Tensor | None,
    ) -> Tensor:
        return self.model(x, edge_index, edge_weight, edge_attr, x_categories=x_categories)


def _dynamic(name: str, nodes: Any, edges: Any) -> dict[int, Any]:
    if name == "edge_index":
        return {1: edges}
    return {0: edges if name.startswith("edge") else nodes}


def _given(trained: Trained) -> set[str]:
    """What the network takes of edge weights and positions, and the graphs of the training have."""
    net = trained.model.net
    taken = {"edge_weight"} if net.supports_edge_weight else set()
    taken |= {"pos"} if net.supports_positions else set()
    if trained.schema is not None:
        return taken & ({"edge_weight"} if trained.schema.edges.weight is not None else set())
    return taken & set(trained.dataset().graphs[0].keys()) if taken else taken


def _arguments(trained: Trained, given: set[str]) -> list[str]:
    spec, net = trained.spec, trained.model.net
    named = {
        "x": spec.num_features > 0,
        "x_categories": bool(spec.num_categories),
        "edge_index": True,
        "edge_weight": "edge_weight" in given,
        "edge_attr": net.edge_encoder is not None,
    }
    return [name for name, needed in named.items() if needed]


def _example(trained: Trained, wanted: list[str], nodes: int, edges: int) -> dict[str, Tensor | None]:
    spec, generator = trained.spec, torch.Generator().manual_seed(nodes)
    categories = [torch.randint(size, (nodes,), generator=generator) for size in spec.num_categories]
    edge_categories = [torch.randint(size, (edges,), generator=generator) for size in spec.num_edge_categories]
    made = {
        "x": torch.randn(nodes, spec.num_features, generator=generator),
        "x_categories": torch.stack(categories, 1) if categories else torch.empty(0),
        "edge_index": torch.randint(nodes, (2, edges), generator=generator),
        "edge_weight": torch.rand(edges, generator=generator),
        "edge_attr": torch.stack(edge_categories, 1) if edge_categories else torch.randn(edges, spec.edge_dim),
    }
    return {name: made[name] if name in wanted else None for name in ARGUMENTS}
