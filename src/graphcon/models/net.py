"""GraphCON as a whole network."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import Module

from graphcon import couplings
from graphcon._activations import resolve_act
from graphcon._norms import build_norms
from graphcon._validation import check_choice
from graphcon.integrators import Integrator
from graphcon.models.base import GraphNet, build_layers
from graphcon.oscillator import GraphCON


class GraphCONNet(GraphNet):
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
        act_kwargs (dict, optional): Options of the activation where it is a name. (default: :obj:`None`)
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
        norm (str or Module, optional): What normalises the argument of the activation, every step for itself:
            :obj:`"batch"` or :obj:`"layer"`, also as PyG names them, :obj:`"none"` for nothing, or a module of which
            every step has its own copy. Not in the paper's equation. (default: :obj:`None`)
        source (float, optional): Adds :math:`\beta X_0` inside the activation, :math:`\beta` learned from this value
            on. Not in the paper's equation. (default: none)
        start (str, optional): How the weights of the coupling start: :obj:`"random"`, as the layer has it, or as a
            :obj:`"wave"` (see :func:`graphcon.couplings.start_as_wave`). (default: :obj:`"random"`)
        input_dropout (float, optional): Dropout on the input. (default: :obj:`dropout`)
        output_dropout (float, optional): Dropout before the decoder. (default: :obj:`dropout`)
        act_on (str, optional): Whether :math:`\sigma` stands on the :obj:`"first"` state as above, on the
            :obj:`"last"` or on :obj:`"none"`. (default: :obj:`"first"`)
        num_categories (tuple, optional): Sizes of the columns of categories in ``x_categories``. (default: none)
        edge_encoder (torch.nn.Module, optional): Maps edge features to what the coupling takes. (default: none)
        coordinates (str, optional): Makes ``edge_attr`` of the positions of the nodes: pseudo-coordinates that are
            :obj:`"cartesian"` or :obj:`"polar"`, e.g. for the kernels of :obj:`"monet"`. (default: :obj:`None`)
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
        act_kwargs: dict[str, Any] | None = None,
        coupling: str | Module | Sequence[Module] = "gcn",
        task: str = "node",
        readout: str = "mean",
        shared: bool = True,
        residual: bool = False,
        norm: str | Module | None = None,
        source: float | None = None,
        start: str = "random",
        input_dropout: float | None = None,
        output_dropout: float | None = None,
        act_on: str = "first",
        num_categories: tuple[int, ...] = (),
        edge_encoder: Module | None = None,
        coordinates: str | None = None,
        dt: float = 0.5,
        alpha: float = 0.5,
        gamma: float = 1.0,
        integrator: str | Integrator = "imex",
        memory: str = "auto",
        trainable: bool = False,
        **kwargs: Any,
    ):
        _drop_what_pyg_leaves_out(kwargs)
        plain, one_for_all = build_layers(coupling, hidden_channels, num_layers, shared, kwargs)
        layers = [couplings.Residual(layer, hidden_channels) for layer in plain] if residual else plain
        oscillator = GraphCON(
            layers[0] if one_for_all else layers,
            num_layers,
            dt=dt,
            alpha=alpha,
            gamma=gamma,
            act=resolve_act(act, **(act_kwargs or {})),
            dropout=dropout,
            integrator=integrator,
            memory=memory,
            trainable=trainable,
            norm=None if norm in (None, "none") else build_norms(norm, hidden_channels, num_layers),
            source=source,
        )
        oscillator._materialize(torch.empty(0, hidden_channels))
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            oscillator,
            plain,
            task=task,
            readout=readout,
            input_dropout=dropout if input_dropout is None else input_dropout,
            output_dropout=dropout if output_dropout is None else output_dropout,
            num_categories=num_categories,
            edge_encoder=edge_encoder,
            act_on=act_on,
            coordinates=coordinates,
        )
        self.num_layers = num_layers
        self._wave = gamma if check_choice("start", start, ["random", "wave"]) == "wave" else None
        self._start_as_wave()

    def reset_parameters(self) -> None:
        """Resets all learnable parameters."""
        super().reset_parameters()
        self._start_as_wave()

    def _start_as_wave(self) -> None:
        """Where it is to start so; otherwise the layers have started by themselves."""
        if self._wave is not None:
            for layer in self.oscillator._layers():
                couplings.start_as_wave(layer, self._wave)

    @property
    def oscillator(self) -> GraphCON:
        """The oscillators between the encoder and the decoder."""
        return cast(GraphCON, self.core)


#: Arguments of PyG's models that an oscillator has no use for, and what to do instead.
_OF_PYG = {
    "jk": "an oscillator gives its last state alone; leave it out",
    "norm_kwargs": "norm is built as it is; leave it out, or give GraphCON modules of your own as norm",
    "act_first": "norm stands before the activation in every step; leave it out",
}


def _drop_what_pyg_leaves_out(options: dict[str, Any]) -> None:
    """Takes arguments of PyG's models out of the coupling's where they ask for nothing, and refuses them elsewhere."""
    for name, cure in _OF_PYG.items():
        value = options.pop(name, None)
        if value and (name, value) != ("jk", "last"):
            raise ValueError(f"{name}={value!r}: {cure}")
