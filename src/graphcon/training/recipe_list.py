"""The list of the packaged recipes. It is apart from the other commands because it need not wait for PyTorch."""

import json

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from graphcon._console import say
from graphcon.errors import InputError
from graphcon.training import recipes


def list_recipes(part: str, console: Console, as_json: bool) -> None:
    """Lists the packaged recipes whose names contain the part."""
    found = {name: recipes.summary(path) for name, path in recipes.packaged().items() if part.lower() in name.lower()}
    if not found:
        raise InputError(f"no recipe has {part!r} in its name. See: graphcon recipes")
    if as_json:
        print(json.dumps(found, indent=1))
        return
    table = Table(box=SIMPLE)
    table.add_column("recipe", no_wrap=True)
    table.add_column("what it is")
    for name, text in found.items():
        table.add_row(name, text)
    console.print(table)
    say(console, "Train one with: graphcon train NAME; see it with: graphcon train NAME --print-recipe")
