"""The commands that list what there is to choose from: models, recipes."""

from typing import Annotated

import tyro

from graphcon.cli._app import app, console


@app.command
def models(
    name: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[NAME]")] = None,
    /,
    json: bool = False,
) -> None:
    """Lists all models, ours and the rivals, or shows one: its paper, its options, what it uses.

    Example: graphcon models

    Example: graphcon models gcnii --json

    Args:
        name: A model to show; nothing for the list.
        json: Print JSON.
    """
    from graphcon.experiments import model_list

    model_list.show(name, console, json)


@app.command
def recipes(
    part: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[PART]")] = "", /, json: bool = False
) -> None:
    """Lists the recipes that come with the package: one for every row of the paper's tables.

    Example: graphcon recipes texas

    Args:
        part: Only those with this in their names.
        json: Print JSON.
    """
    from graphcon.training.recipe_list import list_recipes

    list_recipes(part, console, json)
