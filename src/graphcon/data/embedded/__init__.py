"""The two real data sets inside the package: Cora, and molecules with their solubility. No network, no cache.

Where they come from, and under which licence, is in ``NOTICE``; ``tools/`` has the scripts that made the
files.
"""

import hashlib
from functools import cache
from importlib.resources import files
from io import BytesIO

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

CHECKSUMS = {
    "cora.npz": "00d2d8324add08dc885a6a132634a054dff786ee90d70d608f015907bff102d0",
    "solubility.npz": "4995ece326175b3d17784ade998e2e1c3ba89cbd15bf37b5b5c75940b2b58b0c",
}


def cora() -> tuple[Data, tuple[str, ...]]:
    """The Cora citation graph and the names of its classes.

    Returns:
        A graph with ``x`` [2708, 1433] of zeros and ones, ``edge_index`` [2, 10556] with every citation in
        both directions and once, ``y`` [2708] and ``paper`` [2708], the numbers of the papers in the original
        collection.
    """
    arrays = _read("cora.npz")
    num_papers = len(arrays["paper"])
    rows = np.repeat(np.arange(num_papers), arrays["words_per_paper"])
    x = torch.zeros(num_papers, int(arrays["num_words"]))
    x[torch.from_numpy(rows), torch.from_numpy(arrays["word"].astype(np.int64))] = 1.0
    citations = torch.from_numpy(arrays["citations"].astype(np.int64))
    data = Data(
        x=x,
        edge_index=to_undirected(citations, num_nodes=num_papers),
        y=torch.from_numpy(arrays["subject"].astype(np.int64)),
        paper=torch.from_numpy(arrays["paper"].astype(np.int64)),
    )
    return data, tuple(str(name).replace("_", " ") for name in arrays["subjects"])


def solubility() -> tuple[list[Data], np.ndarray, dict[str, tuple[str, ...] | tuple[int, ...]]]:
    """1,282 molecules with the logarithm of their solubility in water, in mol/l.

    Returns:
        The molecules, each with ``x`` and ``edge_attr`` of category indices, ``edge_index`` with every bond
        in both directions, ``pos`` (the 2-d drawing), ``y`` [1] and ``smiles``; whether each is in the
        source's test part; and the names and the numbers of values of the atom and bond features.
    """
    arrays = _read("solubility.npz")
    atoms = torch.from_numpy(arrays["atoms"].T.astype(np.int64))
    bonds = torch.from_numpy(arrays["bonds"].T.astype(np.int64))
    ends = torch.from_numpy(arrays["ends"].astype(np.int64))
    positions = torch.from_numpy(arrays["positions"].T.astype(np.float32) / 100)
    solubility = torch.from_numpy(arrays["solubility"])
    smiles = arrays["smiles"].tobytes().decode("ascii").split("\n")
    molecules = []
    first_atom = first_bond = 0
    for i, (num_atoms, num_bonds) in enumerate(
        zip(arrays["num_atoms"].tolist(), arrays["num_bonds"].tolist(), strict=True)
    ):
        atom, bond = slice(first_atom, first_atom + num_atoms), slice(first_bond, first_bond + num_bonds)
        edge_index = torch.cat([ends[:, bond], ends[:, bond].flip(0)], dim=1)
        molecules.append(
            Data(
                x=atoms[atom],
                edge_index=edge_index,
                edge_attr=bonds[bond].repeat(2, 1),
                y=solubility[i : i + 1],
                pos=positions[atom],
                smiles=smiles[i],
            )
        )
        first_atom, first_bond = atom.stop, bond.stop
    facts = {
        "atom_features": tuple(map(str, arrays["atom_features"])),
        "atom_sizes": tuple(map(int, arrays["atom_sizes"])),
        "bond_features": tuple(map(str, arrays["bond_features"])),
        "bond_sizes": tuple(map(int, arrays["bond_sizes"])),
    }
    return molecules, arrays["is_test"], facts


@cache
def _read(name: str) -> dict[str, np.ndarray]:
    content = files("graphcon.data.embedded").joinpath(name).read_bytes()
    if hashlib.sha256(content).hexdigest() != CHECKSUMS[name]:
        raise RuntimeError(f"{name} inside the package is damaged. Install graphcon again.")
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        return dict(arrays)
