"""Encode, oscillate, decode: GraphCON as a whole network."""

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from torch.nn import Dropout, Identity, Module, ModuleList
from torch_geometric.nn import Linear, global_add_pool, global_max_pool, global_mean_pool, inits

from graphcon import couplings
from graphcon._validation import check_choice, check_probability
from graphcon.integrators import Integrator
from graphcon.oscillator import GraphCON

READOUTS: dict[str, Callable[..., Tensor]] = {
    "sum": global_add_pool,
    "mean": global_mean_pool,
    "max": global_max_pool,
}


class GraphCONNet(Module):
    r"""Encode, oscillate, decode, for nodes and for graphs.

    .. math::
        X_0 = \sigma(x\,W_e), \qquad X_N = \mathrm{GraphCON}(X_0), \qquad \mathrm{out} = X_N\,W_d

    Takes the arguments of PyG's models (:class:`torch_geometric.nn.models.GCN` and its like) in their order, and
    stands where they stood.

    Args:
        in_channels (int): Size of each input sample, or :obj:`-1` to take it from the first input.
        hidden_channels (int): Size of the state of the oscillators.
        num_layers (int): Number of steps.
        out_channels (int, optional): Size of each output sample. Without it the state itself is
            returned. (default: :obj:`None`)
        dropout (float, optional): Dropout on the force of every step, and where ``input_dropout`` and
            ``output_dropout`` are not given also there. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation :math:`\sigma`. (default: :obj:`"relu"`)
        coupling (str, Module or list, optional): A name (see :obj:`graphcon.couplings.COUPLINGS`), the name of a PyG
            layer such as :obj:`"GATv2Conv"`, a layer, or a list with one layer per step. (default: :obj:`"gcn"`)
        task (str, optional): :obj:`"node"` for an output per node, :obj:`"graph"` for one per
            graph. (default: :obj:`"node"`)
        readout (str, optional): How a graph's nodes become one vector: :obj:`"sum"`, :obj:`"mean"` or
            :obj:`"max"`. (default: :obj:`"mean"`)
        shared (bool, optional): Whether all steps share one layer, where the coupling is a
            name. (default: :obj:`True`)
        residual (bool, optional): Adds a linear map of the state inside the activation,
            :math:`\sigma(F(X) + X R)`. Not in the paper's equation. (default: :obj:`False`)
        input_dropout (float, optional): Dropout on the input. (default: :obj:`dropout`)
        output_dropout (float, optional): Dropout before the decoder. (default: :obj:`dropout`)
        dt (float, optional): The time step. (default: :obj:`0.5`)
        alpha (float, optional): The damping. (default: :obj:`0.5`)
        gamma (float, optional): The squared frequency. (default: :obj:`1.0`)
        integrator (str or Integrator, optional): How to step. (default: :obj:`"imex"`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
        trainable (bool, optional): Learns alpha and gamma per channel. (default: :obj:`False`)
        **kwargs: Options of the coupling where it is a name, e.g. ``heads=8``.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        num_layers: int,
        out_channels: int | None = None,
        dropout: float = 0.0,
        act: str | Callable[[Tensor], Tensor] | None = "relu",
        *,
        coupling: str | Module | Sequence[Module] = "gcn",
        task: str = "node",
        readout: str = "mean",
        shared: bool = True,
        residual: bool = False,
        input_dropout: float | None = None,
        output_dropout: float | None = None,
        dt: float = 0.5,
        alpha: float = 0.5,
        gamma: float = 1.0,
        integrator: str | Integrator = "imex",
        memory: str = "auto",
        trainable: bool = False,
        **kwargs: Any,
    ):
        super().__init__()
        self.in_channels, self.hidden_channels, self.num_layers = in_channels, hidden_channels, num_layers
        self.out_channels = hidden_channels if out_channels is None else out_channels
        self.task = check_choice("task", task, ["node", "graph"])
        self.readout = check_choice("readout", readout, list(READOUTS))
        layers, one_for_all = _build(coupling, hidden_channels, num_layers, shared, kwargs)
        takes = [inspect.signature(layer.forward).parameters for layer in layers]
        self.supports_edge_weight = all("edge_weight" in names for names in takes)
        self.supports_edge_attr = all("edge_attr" in names for names in takes)
        if residual:
            layers = [couplings.Residual(layer, hidden_channels) for layer in layers]
        self.oscillator = GraphCON(
            layers[0] if one_for_all else layers,
            num_layers,
            dt=dt,
            alpha=alpha,
            gamma=gamma,
            act=act,
            dropout=dropout,
            integrator=integrator,
            memory=memory,
            trainable=trainable,
        )
        self.input_dropout = Dropout(check_probability("input_dropout", _or(input_dropout, dropout)))
        self.output_dropout = Dropout(check_probability("output_dropout", _or(output_dropout, dropout)))
        self.encoder = Linear(in_channels, hidden_channels)
        self.decoder = Identity() if out_channels is None else Linear(hidden_channels, out_channels)

    def reset_parameters(self) -> None:
        """Resets all learnable parameters."""
        for part in (self.encoder, self.oscillator, self.decoder):
            inits.reset(part)

    def forward(
        self,
        x: Tensor,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        edge_attr: Tensor | None = None,
        batch: Tensor | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> Tensor:
        """Runs the network.

        Args:
            x (torch.Tensor): The node features, ``[nodes, in_channels]``.
            edge_index (torch.Tensor): The edges, ``[2, edges]``.
            edge_weight (torch.Tensor, optional): The edge weights, where the coupling takes them.
            edge_attr (torch.Tensor, optional): The edge features, where the coupling takes them.
            batch (torch.Tensor, optional): The graph of every node, ``[nodes]``; without it there is one graph.
            batch_size (int, optional): The number of graphs; found from ``batch`` if left out.
            **kwargs: What else the coupling takes by name, e.g. ``edge_type``.
        """
        if self._wanted("edge_weight", edge_weight, self.supports_edge_weight):
            kwargs["edge_weight"] = edge_weight
        if self._wanted("edge_attr", edge_attr, self.supports_edge_attr):
            kwargs["edge_attr"] = edge_attr
        x = self.embed(x, edge_index, **kwargs)
        if self.task == "graph":
            x = READOUTS[self.readout](x, batch, batch_size)
        return self.decoder(self.output_dropout(x))

    def embed(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Tensor:
        """The last state of the oscillators, ``[nodes, hidden_channels]``."""
        x = self.oscillator.act(self.encoder(self.input_dropout(x)))
        return self.oscillator(x, edge_index, **kwargs)

    def _wanted(self, name: str, value: Tensor | None, supported: bool) -> bool:
        if value is not None and not supported:
            layer = type(self.oscillator.coupling).__name__
            warnings.warn(f"{name} is given, but coupling {layer} does not take it: it has no effect", stacklevel=3)
        return value is not None and supported

    def __repr__(self) -> str:
        sizes = f"{self.in_channels}, {self.out_channels}"
        options = f"task={self.task}" + (f", readout={self.readout}" if self.task == "graph" else "")
        return f"{type(self).__name__}({sizes}, {options}, {self.oscillator})"


def _build(
    coupling: str | Module | Sequence[Module], channels: int, steps: int, shared: bool, options: dict[str, Any]
) -> tuple[list[Module], bool]:
    """The layers, and whether the one there is serves all steps."""
    if isinstance(coupling, str):
        return [couplings.build(coupling, channels, **options) for _ in range(1 if shared else steps)], shared
    if options:
        raise TypeError(
            f"{', '.join(options)}: options of the coupling, but the coupling is given as a layer; "
            "give them to the layer, or the coupling by name"
        )
    if isinstance(coupling, Module) and not isinstance(coupling, ModuleList):
        return [coupling], True
    return list(coupling), False


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
