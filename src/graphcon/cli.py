"""The command line: parse, call, print. What the commands do lives in the other rooms."""

import sys
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from graphcon import __version__
from graphcon.errors import InputError

app = tyro.extras.SubcommandApp()
console = Console()


@app.command
def demo(
    out: Annotated[Path, tyro.conf.arg(metavar="FOLDER")] = Path("runs/demo"),
    seed: int = 0,
) -> None:
    """Watches 100 layers smooth a 10×10 grid, or not: GCN and GAT against GraphCON.

    Draws the Dirichlet-energy figure of the paper with random weights, in seconds.

    Example: graphcon demo --out runs/demo --seed 1

    Args:
        out: Where the figure and the numbers go.
        seed: Seed of the features and the weights.
    """
    from graphcon.experiments import energy

    energy.run(out, seed, console)


def main(argv: list[str] | None = None) -> int:
    """Runs one command; returns 0 done, 1 a failure inside, 2 bad input or usage, 130 interrupted."""
    argv = sys.argv[1:] if argv is None else argv
    if argv == ["--version"]:
        print(f"graphcon {__version__}")
        return 0
    try:
        app.cli(
            prog="graphcon",
            description="Deep graph networks of coupled oscillators.",
            args=argv or ["--help"],
        )
    except InputError as error:
        print(f"graphcon: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("graphcon: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
