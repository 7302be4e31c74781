"""Encode, run a core, decode: what every network here has in common."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import Dropout, Identity, Module, ModuleList
from torch_geometric.nn import Linear, global_add_pool, global_max_pool, global_mean_pool, inits

from graphcon import couplings
from graphcon._validation import check_choice, check_count, check_probability, refuse_proxy, width
from graphcon.models.core import Core, taken_by
from graphcon.models.inputs import InputEncoder, check_inputs

READOUTS: dict[str, Callable[..., Tensor]] = {
    "sum": global_add_pool,
    "mean": global_mean_pool,
    "max": global_max_pool,
}


class GraphNet(Module):
    r"""Encode, run a core over the graph, decode, for nodes and for graphs.

    .. math::
        X_0 = \sigma(x\,W_e), \qquad X_N = \mathrm{core}(X_0), \qquad \mathrm{out} = X_N\,W_d

    Args:
        in_channels (int): Size of each input sample, or :obj:`-1` to take it from the first input.
        hidden_channels (int): Size of the state.
        out_channels (int, optional): Size of each output sample. Without it the state itself is
            returned. (default: :obj:`None`)
        core (torch.nn.Module): Maps a state over the graph, with an attribute ``act``.
        layers (list): The message-passing layers of the core: what they take tells what is handed on, unless the core
            is a ``Core``, which tells itself.
        task (str, optional): :obj:`"node"` for an output per node, :obj:`"graph"` for one per
            graph. (default: :obj:`"node"`)
        readout (str, optional): How a graph's nodes become one vector: :obj:`"sum"`, :obj:`"mean"` or
            :obj:`"max"`. (default: :obj:`"mean"`)
        input_dropout (float, optional): Dropout on the input. (default: :obj:`0.0`)
        output_dropout (float, optional): Dropout before the decoder. (default: :obj:`0.0`)
        num_categories (tuple, optional): Sizes of the columns of categories in ``x_categories``. (default: none)
        edge_encoder (torch.nn.Module, optional): Maps edge features and categories to what the layers take as
            ``edge_attr``. (default: they are handed on as they are)
        act_on (str, optional): Where :math:`\sigma` stands outside the core: on the :obj:`"first"` state, as above, on
            the :obj:`"last"`, :math:`\mathrm{out} = \sigma(X_N)\,W_d`, or on :obj:`"none"`. (default: :obj:`"first"`)
        coordinates (str, optional): Makes ``edge_attr`` of the positions of the nodes, where there are some: pseudo-
            coordinates that are :obj:`"cartesian"` or :obj:`"polar"`, for layers with kernels on them.
            (default: :obj:`None`)
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int | None,
        core: Module,
        layers: Sequence[Module],
        *,
        task: str = "node",
        readout: str = "mean",
        input_dropout: float = 0.0,
        output_dropout: float = 0.0,
        num_categories: tuple[int, ...] = (),
        edge_encoder: Module | None = None,
        act_on: str = "first",
        coordinates: str | None = None,
    ):
        super().__init__()
        if out_channels is not None:
            check_count("out_channels", out_channels)
        self.in_channels, self.hidden_channels = in_channels, hidden_channels
        width = core.out_channels if isinstance(core, Core) else hidden_channels
        self.out_channels = width if out_channels is None else out_channels
        self.task = check_choice("task", task, ["node", "graph"])
        self.readout = check_choice("readout", readout, list(READOUTS))
        self.takes = core.takes if isinstance(core, Core) else taken_by(layers)
        self.supports_edge_weight, self.supports_edge_attr = "edge_weight" in self.takes, "edge_attr" in self.takes
        self.output_dropout = Dropout(check_probability("output_dropout", output_dropout))
        self.encoder = InputEncoder(in_channels, hidden_channels, num_categories, input_dropout)
        self.edge_encoder = edge_encoder
        self.act_on = check_choice("act_on", act_on, ["first", "last", "none"])
        self.coordinates = coordinates
        if coordinates is not None:
            check_choice("coordinates", coordinates, list(couplings.COORDINATES))
            self._dim = _dimensions(layers[0], coordinates, self.supports_edge_attr)
        self._layer = type(layers[0] if layers else core).__name__
        self.core = core
        self.decoder = Identity() if out_channels is None else Linear(width, out_channels)

    @property
    def supports_positions(self) -> bool:
        """Whether it takes the positions of the nodes, where there are some."""
        return self.coordinates is not None or "pos" in self.takes

    def reset_parameters(self) -> None:
        """Resets all learnable parameters."""
        for part in (self.encoder, self.edge_encoder, self.core, self.decoder):
            if part is not None:
                inits.reset(part)

    def forward(
        self,
        x: Tensor | None,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        edge_attr: Tensor | None = None,
        batch: Tensor | None = None,
        batch_size: int | None = None,
        x_categories: Tensor | None = None,
        pos: Tensor | None = None,
        **kwargs: Any,
    ) -> Tensor:
        """Runs the network.

        Args:
            x (torch.Tensor): The node features, ``[nodes, in_channels]``; whole numbers are categories, where these
                are all there is.
            edge_index (torch.Tensor): The edges, ``[2, edges]``.
            edge_weight (torch.Tensor, optional): The edge weights, where the layers take them.
            edge_attr (torch.Tensor, optional): The edge features, where the layers take them.
            batch (torch.Tensor, optional): The graph of every node, ``[nodes]``; without it there is one graph.
            batch_size (int, optional): The number of graphs; found from ``batch`` if left out.
            x_categories (torch.Tensor, optional): Category indices, ``[nodes, columns]``.
            pos (torch.Tensor, optional): Positions of the nodes, ``[nodes, dimensions]``, where the core takes them.
            **kwargs: What else the layers take by name, e.g. ``edge_type``.
        """
        refuse_proxy(x)
        if self._wanted("edge_weight", edge_weight, self.supports_edge_weight):
            kwargs["edge_weight"] = edge_weight
        if self._wanted("edge_attr", edge_attr, self.supports_edge_attr):
            kwargs["edge_attr"] = edge_attr if self.edge_encoder is None else self._encode_edges(edge_attr)
        if self.coordinates is not None and pos is not None and edge_attr is None:
            kwargs["edge_attr"] = self._seen_from_each_other(pos, edge_index, batch)
        nodewise = {"batch": batch, "pos": pos}
        kwargs |= {name: value for name, value in nodewise.items() if name in self.takes and value is not None}
        return self.decode(self.embed(x, edge_index, x_categories, **kwargs), batch, batch_size)

    def embed(self, x: Tensor | None, edge_index: Any, x_categories: Tensor | None = None, **kwargs: Any) -> Tensor:
        """The last state of the core, ``[nodes, hidden_channels]``."""
        return self.core(self.start(x, x_categories), edge_index, **kwargs)

    def start(self, x: Tensor | None, x_categories: Tensor | None = None) -> Tensor:
        """The first state of the core, ``[nodes, hidden_channels]``."""
        if self.encoder.lin is None and x_categories is None and isinstance(x, Tensor) and not x.is_floating_point():
            x, x_categories = None, x  # where all features are categories, PyG has them in x
        if not torch.compiler.is_compiling():
            check_inputs(self.encoder, x, x_categories)
        return self._act("first", self.encoder(x, x_categories))

    def decode(self, x: Tensor, batch: Tensor | None = None, batch_size: int | None = None) -> Tensor:
        """The output from the last state of the core, ``[nodes or graphs, out_channels]``."""
        x = self._act("last", x)
        if self.task == "graph":
            _check_batch(batch, x)
            x = READOUTS[self.readout](x, batch, batch_size)
        return self.decoder(self.output_dropout(x))

    def _act(self, place: str, x: Tensor) -> Tensor:
        return cast(Callable[[Tensor], Tensor], self.core.act)(x) if place == self.act_on else x

    def _encode_edges(self, edge_attr: Tensor | None) -> Tensor:
        assert self.edge_encoder is not None
        if edge_attr is not None and not edge_attr.is_floating_point():
            return self.edge_encoder(None, edge_attr)
        return self.edge_encoder(edge_attr)

    def _seen_from_each_other(self, pos: Tensor, edge_index: Any, batch: Tensor | None) -> Tensor:
        assert self.coordinates is not None
        if pos.size(-1) != self._dim:
            raise ValueError(f"pos has {pos.size(-1)} coordinates per node, but the kernels are made for {self._dim}")
        pos = pos.to(next(self.parameters()).dtype)
        return couplings.COORDINATES[self.coordinates](pos, edge_index, batch)

    def _wanted(self, name: str, value: Tensor | None, supported: bool) -> bool:
        if value is not None and not supported:
            warnings.warn(f"{name} is given, but {self._layer} does not take it: it has no effect", stacklevel=3)
        return value is not None and supported

    def __repr__(self) -> str:
        options = f"task={self.task}" + (f", readout={self.readout}" if self.task == "graph" else "")
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, {options}, {self.core})"


def build_layers(
    coupling: str | Module | Sequence[Module], channels: int, steps: int, shared: bool, options: dict[str, Any]
) -> tuple[list[Module], bool]:
    """The layers a user asks for, and whether the one there is serves all steps."""
    check_count("hidden_channels", channels)
    if isinstance(coupling, str):
        return [couplings.build(coupling, channels, **options) for _ in range(1 if shared else steps)], shared
    if options:
        raise TypeError(
            f"{', '.join(options)}: options of the coupling, but the coupling is given as a layer; "
            "give them to the layer, or the coupling by name"
        )
    if isinstance(coupling, Module) and not isinstance(coupling, ModuleList):
        return [_fitting(coupling, channels)], True
    if not isinstance(coupling, Sequence | ModuleList):
        raise TypeError(f"coupling={coupling!r} must be a name, a layer, or a list with one layer per step")
    if len(coupling) != steps:
        raise ValueError(f"num_layers={steps}, but coupling lists {len(coupling)} layers: it must list one per step")
    return [_fitting(layer, channels) for layer in coupling], False


def _dimensions(layer: Module, coordinates: str, takes_features: bool) -> int:
    """How many pseudo-coordinates the kernels of a layer live on."""
    if not takes_features:
        raise ValueError(f"coordinates={coordinates!r}: {layer} takes no edge_attr, so they would have no effect")
    dim = getattr(layer, "dim", 2)
    if coordinates == "polar" and dim != 2:
        raise ValueError(f"coordinates='polar' are a distance and an angle, but {layer} has dim={dim}")
    return dim


def _fitting(layer: Any, channels: int) -> Module:
    """Refuses a layer that says it takes another width than the state has."""
    if isinstance(layer, Module) and (own := width(layer)) not in (None, channels):
        raise ValueError(
            f"coupling {layer} takes {own} channels, but the state has hidden_channels={channels}: make both equal"
        )
    return layer


def _check_batch(batch: Any, x: Tensor) -> None:
    if batch is None or torch.compiler.is_compiling():
        return
    if not isinstance(batch, Tensor) or batch.is_floating_point() or batch.dtype is torch.bool:
        told = f"is {batch.dtype}" if isinstance(batch, Tensor) else f"is a {type(batch).__name__}"
        raise TypeError(f"batch {told}, but must be a torch.int64 tensor with the graph of every node")
    if batch.shape != x.shape[:1]:
        raise ValueError(f"batch has shape {list(batch.shape)}, but must tell the graph of each of {len(x)} nodes")
