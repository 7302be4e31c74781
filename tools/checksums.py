"""Writes the checksums of the published raw files that downloads are compared with.

    python tools/checksums.py DATA_ROOT cora citeseer pubmed texas wisconsin cornell cornell-fixed

Run once, on files that were obtained from their publishers; the sets named are read below DATA_ROOT.
"""

import argparse
import hashlib
import json
from pathlib import Path

from graphcon.data import describe

OUT = Path(__file__).parent.parent / "src/graphcon/data/checksums.json"


def main() -> None:
    """Reads the files of the sets named and writes `OUT`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    sums = {}
    for name in options.names:
        facts = describe(name)
        raw = options.root / facts.folder / "raw"
        sums[name] = {f: hashlib.sha256((raw / f).read_bytes()).hexdigest() for f in facts.raw_files}
    OUT.write_text(json.dumps(sums, indent=1) + "\n")
    print(f"{OUT}: {sum(map(len, sums.values()))} files")


if __name__ == "__main__":
    main()
