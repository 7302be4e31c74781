"""What may change when a run goes on: nothing that its weights were trained with. Needs no PyTorch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphcon.errors import InputError
from graphcon.training import recipes
from graphcon.training.config import Recipe
from graphcon.training.own_files import check_unchanged, is_file_name, kept, placed

_LONGER = ("trainer.epochs", "trainer.patience")
_FILES = ("data.nodes", "data.edges", "data.graphs")  # to another place: what is in them must be the same
#: How long, on what, and where the data lie.
MAY_CHANGE = (*_LONGER, *recipes.INCIDENTAL, *_FILES)


def check_resumed(run: Path, recipe: Recipe) -> None:
    """Refuses to go on with a run under other settings than its own, before anything is written.

    Args:
        run: The run folder.
        recipe: What it is to go on with.

    Raises:
        InputError: There is no run, it would become another one, or its data have changed.
    """
    before = recipes.load(recipes.of_run(run, "--resume"))
    if recipe.trainer.epochs < before.trainer.epochs:
        raise InputError(
            f"--resume {run}: trainer.epochs = {recipe.trainer.epochs}, but the run has {before.trainer.epochs}, and "
            "can only have more. Start a new run with --out"
        )
    changes = _changes(before, recipe, (*_LONGER, *_FILES))
    if changes:
        told = ", ".join(f"{name} = {new!r} (it has {old!r})" for name, (old, new) in changes.items())
        raise InputError(
            f"--resume {run}: the run goes on as it began, not with {told}. Leave that out, or start a new run with "
            f"--out. What may change: {', '.join(MAY_CHANGE)}"
        )
    check_unchanged(run, recipe.data, kept(run))


def check_same(run: Path, recipe: Recipe) -> None:
    """Refuses to take a run of several, if it is there, for that of a recipe which it is not.

    Args:
        run: Its folder, in the one that the user named.
        recipe: What is to be trained.

    Raises:
        InputError: It was trained with other settings or other data.
    """
    if not (run / "recipe.toml").exists():
        return
    before, files = recipes.load(run / "recipe.toml"), kept(run)
    if _changes(placed(before), placed(recipe), _FILES if files else ()):
        raise InputError(
            f"--out {run.parent}: {run.name} was trained there with other settings. "
            "Name another folder, or delete this one"
        )
    check_unchanged(run, recipe.data, files)


def _changes(before: Recipe, after: Recipe, allowed: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    """What differs of the essence, but for some fields."""
    found = recipes.changes(recipes.essence(before), recipes.essence(after))
    if is_file_name(before.data.name) and is_file_name(after.data.name):
        found.pop("data.name", None)
    # A table may lie elsewhere, but there is none more and none less.
    return {name: both for name, both in found.items() if name not in allowed or (name in _FILES and None in both)}
