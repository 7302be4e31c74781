"""Writes constraints.txt: the versions in the environment that the tests have just passed in.

.venv/bin/python tools/freeze.py
"""

import sys
from importlib.metadata import distributions
from pathlib import Path

HEADER = "# What continuous integration tested; `make` installs under these. Written by tools/freeze.py.\n"
LEFT_OUT = {"graphcon", "pip", "setuptools", "wheel"}


def main() -> int:
    pins = {
        # A local label such as +cpu names a build, not a version: leave the choice of build to the machine.
        dist.metadata["Name"].lower().replace("_", "-"): dist.version.split("+")[0]
        for dist in distributions()
    }
    lines = [f"{name}=={version}\n" for name, version in sorted(pins.items()) if name not in LEFT_OUT]
    target = Path(__file__).resolve().parent.parent / "constraints.txt"
    target.write_text(HEADER + "".join(lines))
    print(f"{len(lines)} versions written to {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
