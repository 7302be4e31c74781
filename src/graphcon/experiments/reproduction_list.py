"""What can be reproduced. It is apart from the work because the list need not wait for PyTorch."""

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Grid

from graphcon.experiments.tables import PICTURES, TABLES, rows

NAMES = (*PICTURES, *TABLES, "page")


def show_names(console: Console) -> None:
    """Lists what can be reproduced."""
    grid = Grid(box=SIMPLE)
    for column in ("name", "what it is", "rows"):
        grid.add_column(column, justify="right" if column == "rows" else "left")
    for name, picture in PICTURES.items():
        grid.add_row(name, f"{picture.title}, a figure", "")
    for table in TABLES.values():
        grid.add_row(table.name, table.title, str(len(rows(table))))
    grid.add_row("page", "docs/results.md, from the results that are kept", "")
    console.print(grid)
    console.print("Run one with: graphcon reproduce NAME --budget smoke|small|paper --workers N", highlight=False)
