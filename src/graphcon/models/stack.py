"""The plain stack of layers: what GraphCON is compared with."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Dropout, Module, ModuleList
from torch_geometric.nn import inits

from graphcon.models.base import GraphNet, build_layers
from graphcon.oscillator import resolve_act


class Stack(Module):
    r"""Layers one after another: :math:`X_n = \mathrm{dropout}(\sigma(F_n(X_{n-1})))`.

    Args:
        layers (list): The layers; a single one is used ``steps`` times.
        steps (int): The number of layers.
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        dropout (float, optional): Dropout after every activation. (default: :obj:`0.0`)
    """

    def __init__(
        self,
        layers: Sequence[Module],
        steps: int,
        act: str | Callable[[Tensor], Tensor] | None = "relu",
        dropout: float = 0.0,
    ):
        super().__init__()
        self.layers, self.steps = ModuleList(layers), steps
        self.act, self.dropout = resolve_act(act), Dropout(dropout)

    def reset_parameters(self) -> None:
        """Resets all learnable parameters."""
        inits.reset(self.layers)

    def forward(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Tensor:
        """Runs all layers on ``x [nodes, channels]``."""
        for state in self.states(x, edge_index, **kwargs):
            x = state
        return x

    @torch.no_grad()
    def trajectory(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Tensor:
        """All states, ``[steps + 1, nodes, channels]``, keeping no gradients."""
        return torch.stack(list(self.states(x, edge_index, **kwargs)))

    def states(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Iterator[Tensor]:
        """Yields ``x`` and then the state after every layer."""
        yield x
        for n in range(self.steps):
            x = self.dropout(self.act(self._layer(n)(x, edge_index, **kwargs)))
            yield x

    def _layer(self, n: int) -> Module:
        return self.layers[n if len(self.layers) > 1 else 0]

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
        input_dropout (float, optional): Dropout on the input. (default: :obj:`dropout`)
        output_dropout (float, optional): Dropout before the decoder. (default: :obj:`dropout`)
        task (str, optional): :obj:`"node"` or :obj:`"graph"`. (default: :obj:`"node"`)
        readout (str, optional): :obj:`"sum"`, :obj:`"mean"` or :obj:`"max"`. (default: :obj:`"mean"`)
        num_categories (tuple, optional): Sizes of the columns of categories. (default: none)
        edge_encoder (torch.nn.Module, optional): Maps edge features to what the layers take. (default: none)
        **kwargs: Options of the coupling where it is a name.
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
        shared: bool = False,
        input_dropout: float | None = None,
        output_dropout: float | None = None,
        task: str = "node",
        readout: str = "mean",
        num_categories: tuple[int, ...] = (),
        edge_encoder: Module | None = None,
        **kwargs: Any,
    ):
        layers, _ = build_layers(coupling, hidden_channels, num_layers, shared, kwargs)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            Stack(layers, num_layers, act, dropout),
            layers,
            task=task,
            readout=readout,
            input_dropout=dropout if input_dropout is None else input_dropout,
            output_dropout=dropout if output_dropout is None else output_dropout,
            num_categories=num_categories,
            edge_encoder=edge_encoder,
        )
        self.num_layers = num_layers
