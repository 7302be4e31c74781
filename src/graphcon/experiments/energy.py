"""The Dirichlet energy over 100 layers: the paper's first figure.

Random features on a 10×10 grid go through deep networks with random weights. In GCN and GAT neighbours soon agree; the
oscillators around the very same layers keep them apart longer, and without damping for ever. One draw says little, so
there are many. The paper does not say which activation and how many channels it drew; docs/theory.md tells how much
depends on that.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch_geometric.nn import GATConv, GCNConv, MessagePassing

from graphcon._activations import resolve_act
from graphcon.data import synthetic
from graphcon.diagnostics import dirichlet_energy
from graphcon.oscillator import GraphCON

SIDE = 10
CHANNELS = 16
LAYERS = 100
DRAWS = 20
ALPHAS = (0.0, 0.5)
COUPLINGS: dict[str, Callable[[], MessagePassing]] = {
    "GCN": lambda: GCNConv(CHANNELS, CHANNELS),
    "GAT": lambda: GATConv(CHANNELS, CHANNELS),
}


class Curve(NamedTuple):
    """The energy of every state of one network over all draws, the input first."""

    coupling: str
    alpha: float | None  # None for the plain network
    energies: Tensor  # [draws, layers + 1]

    @property
    def name(self) -> str:
        """As one would label it."""
        return self.coupling if self.alpha is None else f"GraphCON-{self.coupling}, α = {self.alpha:g}"

    @property
    def band(self) -> Tensor:
        """The 10th, the 50th and the 90th percentile after every layer, ``[3, layers]``."""
        return self.energies[:, 1:].quantile(torch.tensor([0.1, 0.5, 0.9], dtype=self.energies.dtype), dim=0)


def curves(seed: int = 0, act: str = "tanh") -> Iterator[Curve]:
    """Draws features and weights and yields the curves one by one: each coupling plain, then as an oscillator.

    Args:
        seed: Seed of the first draw; the next ones have the next. All networks of a coupling have the same weights.
        act: The activation.
    """
    edge_index = cast(Tensor, synthetic.grid(SIDE, SIDE).edge_index)
    for name, build in COUPLINGS.items():
        layers = [build() for _ in range(LAYERS)]
        for alpha in (None, *ALPHAS):
            draws = [_energies(layers, alpha, act, edge_index, seed + draw) for draw in range(DRAWS)]
            yield Curve(name, alpha, torch.stack(draws))


def number_of_curves() -> int:
    """How many curves :func:`curves` yields."""
    return len(COUPLINGS) * (1 + len(ALPHAS))


@torch.no_grad()
def _energies(layers: list[MessagePassing], alpha: float | None, act: str, edge_index: Tensor, seed: int) -> Tensor:
    """The energy of every state of one network in one draw, ``[layers + 1]``."""
    x = torch.rand(SIDE * SIDE, CHANNELS, generator=torch.Generator().manual_seed(seed))
    torch.manual_seed(seed)
    for layer in layers:  # drawn anew, for to build one takes longer than to run it
        layer.reset_parameters()
    if alpha is None:
        states = _plain(layers, x, edge_index, act)
    else:
        states = GraphCON(layers, dt=1.0, alpha=alpha, gamma=1.0, act=act).trajectory(x, edge_index)
    # In single precision the squares of a state that has all but vanished would be zero.
    return dirichlet_energy(states.double(), edge_index)


def _plain(layers: list[MessagePassing], x: Tensor, edge_index: Tensor, act: str) -> Tensor:
    sigma = resolve_act(act)
    states = [x]
    for layer in layers:
        states.append(sigma(layer(states[-1], edge_index)))
    return torch.stack(states)
