"""What ``graphcon`` alone prints: the commands in the order in which one meets them, a line each."""

from rich.table import Table
from rich.text import Text

from graphcon import __version__
from graphcon._console import say
from graphcon.cli._app import console

ABOUT = "Deep graph networks of coupled oscillators."
#: The commands in the order in which one meets them.
WORKFLOW = {
    "See what it is about": {
        "demo": "see what depth does to a plain network and to oscillators, in minutes",
        "reproduce": "run the paper's tables and figures, beside the paper's numbers",
    },
    "Train and use": {
        "data": "list the data sets, or check your own tables",
        "train": "train a recipe or your own tables; continue after any stop",
        "evaluate": "measure a run on held-out data or on new tables",
        "predict": "write labels with probabilities, or values, for new tables",
        "export": "write a program that runs with PyTorch alone",
    },
    "Look inside": {
        "report": "write a page about runs, to open in a browser",
        "diagnose": "measure energy, distance, rank and gradient at every step",
    },
    "Choose": {
        "models": "list all models, ours and the rivals",
        "recipes": "list all recipes, one for every row of the paper's tables",
        "compare": "train several models at several depths, at equal budget",
        "tune": "search for better settings, on validation data",
    },
    "This machine": {
        "bench": "measure speed and memory beside PyG's",
        "completion": "let the Tab key complete commands and options",
    },
}


def show_overview() -> None:
    """The commands, a line each."""
    console.print(Text.assemble(("graphcon", "bold"), f" {__version__}: {ABOUT}\n"))
    table = Table(box=None, show_header=False, pad_edge=False)
    for title, commands in WORKFLOW.items():
        table.add_row(Text(title, "bold"), "")
        for name, does in commands.items():
            table.add_row(f"  {name}", does)
    console.print(table)
    say(
        console,
        "\nOptions and examples of a command: graphcon COMMAND --help\n"
        "Your own tables: graphcon train --nodes nodes.csv --edges edges.csv --target label",
    )
