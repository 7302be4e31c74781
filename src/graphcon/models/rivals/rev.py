from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import LayerNorm, Module, ModuleList
from torch_geometric.nn import inits
from torch_geometric.nn.models import GroupAddRev

from graphcon import couplings, kernels
from graphcon.models.card import rival
from graphcon.models.core import Activation, Core, State, taken_by


class _Graph(NamedTuple):
    """What the blocks take beside the state, as one thing: the wrapper would cut tensors into groups."""

    index: Tensor
    given: dict[str, Any]
    mask: Tensor | None


class _Block(Module):
    """Normalise, activate, drop, pass messages."""

    def __init__(self, layer: Module, channels: int, act: Any):
        super().__init__()
        self.norm, self.act, self.layer = LayerNorm(channels), act, layer

    def reset_parameters(self) -> None:
        self.norm.reset_parameters()
        inits.reset(self.layer)

    def forward(self, x: Tensor, graph: _Graph) -> Tensor:
        with torch.autocast(x.device.type, enabled=False):  # to undo a step it is computed again, and must be the same
            x = self.act(self.norm(x))
            return kernels.call(self.layer, x if graph.mask is None else x * graph.mask, graph.index, **graph.given)


class Rev(Core):
    r"""Grouped reversible residual blocks (`Li et al., 2021 <https://arxiv.org/abs/2106.07476>`_).

    The channels are C groups; with :math:`X'_0 = \sum_{i=2}^{C} X_i` a step is

    .. math::
        X'_i = X_i + F_i(\mathrm{dropout}(\sigma(\mathrm{norm}(X'_{i-1})))), \qquad i = 1, \ldots, C

    The backward pass undoes the steps in place of keeping their states (PyG's ``GroupAddRev``), so memory does not
    grow with depth; gradients are equal up to rounding. For that, all steps drop the same channels, and autocast does
    not reach them.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of steps.
        dropout (float, optional): Dropout before every layer, drawn once per pass. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        num_groups (int, optional): The number C of groups. (default: :obj:`2`)
        coupling (str, optional): The layer by name. (default: :obj:`"gcn"`)
    """

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        num_groups: int = 2,
        coupling: str = "gcn",
    ):
        super().__init__(channels, num_layers, dropout, act, memory="store")
        if num_groups < 2 or channels % num_groups:
            raise ValueError(f"num_groups={num_groups}: must be 2 or more and divide the {channels} channels")
        self.width = width = channels // num_groups
        layers = [[couplings.build(coupling, width) for _ in range(num_groups)] for _ in range(num_layers)]
        self.blocks = ModuleList(
            GroupAddRev(ModuleList(_Block(layer, width, self.act) for layer in group)) for group in layers
        )
        self.norm, self.keeps_states = LayerNorm(channels), False
        # Undoing a step gives no gradient to what comes with the graph, so learned edge features are not taken.
        self.takes = taken_by(layers[0]) & {"edge_weight"}

    def prepare(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> _Graph:
        drops = self.training and self.dropout.p > 0
        return _Graph(edge_index, kwargs, self.dropout(x.new_ones(x.size(0), self.width)) if drops else None)

    def begin(self, x: Tensor) -> State:
        # A block frees what it takes, and the encoder still needs its own.
        return (x.to(torch.promote_types(x.dtype, torch.float32), copy=True),)

    def step(self, n: int, graph: _Graph, *state: Tensor) -> State:
        block = cast(GroupAddRev, self.blocks[n])
        block.disable = self.keeps_states or not torch.is_grad_enabled()
        return (block(*state, graph),)

    def whole_states(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Iterator[State]:
        """Yields ``x`` and then the state X after every step; none of them is freed."""
        self.keeps_states = True
        try:
            yield from super().whole_states(x, edge_index, **kwargs)
        finally:
            self.keeps_states = False

    def end(self, *state: Tensor) -> Tensor:
        return self.act(self.norm(state[0]))


CARDS = (
    rival(
        "rev",
        Rev,
        "reversible residual blocks: memory does not grow with depth",
        "Li et al. 2021, arXiv:2106.07476",
        exceptions={"trajectory": "what goes to the decoder is the last state normalised and activated"},
    ),
)
