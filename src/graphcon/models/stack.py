"""The plain stack of layers: what GraphCON is compared with."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor
from torch.nn import Module, ModuleList

from graphcon import kernels
from graphcon._norms import build_norms
from graphcon.models.base import GraphNet, build_layers
from graphcon.models.core import Activation, Core, Edges, State, taken_by


class Stack(Core):
    r"""Layers one after another: :math:`X_n = \mathrm{dropout}(\sigma(\mathrm{norm}_n(F_n(X_{n-1}))))`.

    Args:
        layers (list): The layers; a single one is used in all steps.
        channels (int): Size of the state.
        num_layers (int): The number of steps.
        dropout (float, optional): Dropout after every activation. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        norm (str, optional): What normalises the output of a layer: :obj:`"none"`, :obj:`"batch"` or
            :obj:`"layer"`. (default: :obj:`"none"`)
        residual (bool, optional): Adds :math:`X_{n-1}` to :math:`X_n`. (default: :obj:`False`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    def __init__(
        self,
        layers: Sequence[Module],
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        norm: str = "none",
        residual: bool = False,
        memory: str = "auto",
    ):
        super().__init__(channels, num_layers, dropout, act, memory)
        self.layers, self.residual = ModuleList(layers), residual
        self.norms = build_norms(norm, channels, num_layers)
        self.takes |= taken_by(layers)

    def step(self, n: int, graph: Edges, *state: Tensor) -> State:
        (x,) = state
        layer = self.layers[n if len(self.layers) > 1 else 0]
        out = self.dropout(self.act(self.norms[n](kernels.call(layer, x, graph.index, **graph.given))))
        return (x + out if self.residual else out,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.layers[0]}, steps={self.steps}, shared={len(self.layers) == 1})"


class StackNet(GraphNet):
    """Encode, a plain stack of layers, decode: the base GNN with all that GraphCONNet has but the oscillator.

    Args:
        in_channels (int): Size of each input sample.
        hidden_channels (int): Size of the state.
        num_layers (int): Number of layers.
        out_channels (int, optional): Size of each output sample. (default: :obj:`None`)
        dropout (float, optional): Dropout after every layer, and by default at input and output. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        coupling (str, Module or list, optional): The layers, as in ``GraphCONNet``. (default: :obj:`"gcn"`)
        shared (bool, optional): Whether all layers share their weights. (default: :obj:`False`)
        norm (str, optional): What normalises the output of a layer: :obj:`"none"`, :obj:`"batch"` or
            :obj:`"layer"`. (default: :obj:`"none"`)
        residual (bool, optional): Adds the state to what a layer makes of it. (default: :obj:`False`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
        input_dropout (float, optional): Dropout on the input. (default: :obj:`dropout`)
        output_dropout (float, optional): Dropout before the decoder. (default: :obj:`dropout`)
        act_on (str, optional): Whether the activation stands also on the :obj:`"first"` state, on the :obj:`"last"` or
            on :obj:`"none"`. (default: :obj:`"first"`)
        task (str, optional): :obj:`"node"` or :obj:`"graph"`. (default: :obj:`"node"`)
        readout (str, optional): :obj:`"sum"`, :obj:`"mean"` or :obj:`"max"`. (default: :obj:`"mean"`)
        num_categories (tuple, optional): Sizes of the columns of categories. (default: none)
        edge_encoder (torch.nn.Module, optional): Maps edge features to what the layers take. (default: none)
        coordinates (str, optional): What ``edge_attr`` is made of positions, as in ``GraphCONNet``. (default: none)
        **kwargs: Options of the coupling where it is a name.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        num_layers: int,
        out_channels: int | None = None,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        coupling: str | Module | Sequence[Module] = "gcn",
        shared: bool = False,
        norm: str = "none",
        residual: bool = False,
        memory: str = "auto",
        input_dropout: float | None = None,
        output_dropout: float | None = None,
        act_on: str = "first",
        task: str = "node",
        readout: str = "mean",
        num_categories: tuple[int, ...] = (),
        edge_encoder: Module | None = None,
        coordinates: str | None = None,
        **kwargs: Any,
    ):
        layers, _ = build_layers(coupling, hidden_channels, num_layers, shared, kwargs)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            Stack(layers, hidden_channels, num_layers, dropout, act, norm=norm, residual=residual, memory=memory),
            layers,
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
