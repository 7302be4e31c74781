"""The oscillating molecule: the paper's illustration of the dynamics.

The positions of a molecule's atoms in its 2-d drawing are both the features X and the velocities Y at the start, and
GraphCON-GCN with random weights moves them. The paper takes a molecule of ZINC and does not say which, nor the weights,
dt, α, γ and σ. Here it is a molecule of the embedded solubility set, whose drawing comes with it.
"""

from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch_geometric.nn import GCNConv

from graphcon.data.embedded import solubility
from graphcon.oscillator import GraphCON

ELEMENTS = ("C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "Sn")
SMILES = "COc2cc(Cc1cnc(N)nc1N)cc(OC)c2OC"  # trimethoprim, a medicine
TIME, DT = 20.0, 0.1


class Molecule(NamedTuple):
    """A molecule and the way of its atoms."""

    smiles: str
    elements: list[str]
    edge_index: Tensor  # [2, edges]
    xs: Tensor  # [steps + 1, atoms, 2]
    dt: float


def trajectory(
    smiles: str = SMILES, seed: int = 0, dt: float = DT, time: float = TIME, alpha: float = 0.0, act: str = "tanh"
) -> Molecule:
    """Moves a molecule of the embedded set.

    Args:
        smiles: Which one, by its SMILES in the set.
        seed: Seed of the weights, one layer shared by all steps.
        dt: The time step.
        time: Until when.
        alpha: The damping; without it the oscillation is plain to see.
        act: The activation.
    """
    molecules, _, _ = solubility()
    found = next((molecule for molecule in molecules if molecule.smiles == smiles), None)
    if found is None:
        raise ValueError(f"smiles={smiles!r}: no molecule of the solubility set has it; graphcon data solubility tells")
    position, edge_index = cast(Tensor, found.pos), cast(Tensor, found.edge_index)
    x = position - position.mean(0)
    torch.manual_seed(seed)
    network = GraphCON(GCNConv(2, 2), round(time / dt), dt=dt, alpha=alpha, gamma=1.0, act=act)
    kinds = [ELEMENTS[int(atom)] for atom in cast(Tensor, found.x)[:, 0]]
    return Molecule(smiles, kinds, edge_index, network.trajectory(x, edge_index), dt)
