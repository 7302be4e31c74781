"""The Dirichlet energy over 100 layers: the paper's first figure.

Random features on a 10×10 grid go through deep networks with random weights. In GCN and GAT neighbours soon agree; the
oscillators around the very same layers keep them apart. The paper does not say which activation and how many channels
it drew; docs/theory.md tells how much depends on that.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.nn import GATConv, GCNConv
from torch_geometric.nn.resolver import activation_resolver

from graphcon.data import synthetic
from graphcon.diagnostics import dirichlet_energy
from graphcon.oscillator import GraphCON

SIDE = 10
CHANNELS = 16
LAYERS = 100
ALPHAS = (0.0, 0.5)
COUPLINGS: dict[str, Callable[[], Module]] = {
    "GCN": lambda: GCNConv(CHANNELS, CHANNELS),
    "GAT": lambda: GATConv(CHANNELS, CHANNELS),
}


class Curve(NamedTuple):
    """The energy of every state of one network, the input first."""

    coupling: str
    alpha: float | None  # None for the plain network
    energy: Tensor  # [layers + 1]

    @property
    def name(self) -> str:
        """As one would label it."""
        return self.coupling if self.alpha is None else f"GraphCON-{self.coupling}, α = {self.alpha:g}"


def curves(seed: int = 0, act: str = "tanh") -> Iterator[Curve]:
    """Draws features and weights and yields the curves one by one: each coupling plain, then as an oscillator.

    Args:
        seed: Seed of the features and of the weights; all networks of a coupling have the same weights.
        act: The activation.
    """
    edge_index = cast(Tensor, synthetic.grid(SIDE, SIDE).edge_index)
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(SIDE * SIDE, CHANNELS, generator=generator)
    for name, build in COUPLINGS.items():
        torch.manual_seed(seed)
        layers = [build() for _ in range(LAYERS)]
        yield Curve(name, None, _energies(_plain(layers, x, edge_index, act), edge_index))
        for alpha in ALPHAS:
            network = GraphCON(layers, dt=1.0, alpha=alpha, gamma=1.0, act=act)
            yield Curve(name, alpha, _energies(network.trajectory(x, edge_index), edge_index))


def number_of_curves() -> int:
    """How many curves :func:`curves` yields."""
    return len(COUPLINGS) * (1 + len(ALPHAS))


def _energies(states: Tensor, edge_index: Tensor) -> Tensor:
    # In single precision the squares of a state that has all but vanished would be zero.
    return dirichlet_energy(states.double(), edge_index)


@torch.no_grad()
def _plain(layers: list[Module], x: Tensor, edge_index: Tensor, act: str) -> Tensor:
    sigma = activation_resolver(act)
    states = [x]
    for layer in layers:
        states.append(sigma(layer(states[-1], edge_index)))
    return torch.stack(states)
