"""What all commands share: the application they are registered with, the console, what they check before they load."""

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import tyro

from graphcon._console import make_console
from graphcon.data._options import TableOptions
from graphcon.errors import InputError
from graphcon.training.config import DataConfig

app = tyro.extras.SubcommandApp()
console = make_console()


def check_folder(out: Path, no_run: bool = False) -> None:
    """Refuses a folder to write to that is a file, or the folder of a run where that would be replaced."""
    if no_run and (out / "recipe.toml").exists():
        raise InputError(f"--out {out}: holds a run, whose files would be replaced; name another folder")
    for path in (out, *out.parents):
        if path.exists() and not path.is_dir():
            raise InputError(f"--out {out}: {path} is a file, but a folder is needed; name another place")


def check_tables(nodes: Path | None, edges: Path | None, graphs: Path | None, options: TableOptions) -> None:
    """Tells of a mistake in own tables at once: PyTorch takes seconds to load, and is not needed to see it.

    The price is that tables without one are read twice.
    """
    if nodes is not None or edges is not None or graphs is not None:
        from graphcon.data.tables.opened import open_tables

        open_tables(nodes, edges, graphs, options)


def check_run(run: Path) -> None:
    """Refuses what is no run folder, before PyTorch is loaded."""
    from graphcon.training import recipes

    recipes.of_run(run)


def check_data(config: DataConfig) -> None:
    """Tells of a mistake in the own tables of a recipe, if it is for such."""
    if config.name is None:
        check_tables(config.nodes, config.edges, config.graphs, config.table)


def check_heard(command: Callable[..., Any], given: Mapping[str, Any], beside: str, cure: str) -> None:
    """Refuses options that a command would not hear.

    Args:
        command: The command; an option that has its default was not given.
        given: The options that it would not hear, with their values.
        beside: What they are given with, as the user typed it.
        cure: Why they are not heard, and what to do.

    Raises:
        InputError: One of them was given.
    """
    usual = signature(command).parameters
    names = {option: option.removeprefix("--").replace("-", "_").lower() for option in given}
    useless = [option for option, value in given.items() if value != usual[names[option]].default]
    if useless:
        raise InputError(f"{beside}: {', '.join(useless)} cannot be given with it, {cure}")


def words(option: str, text: str) -> tuple[str, ...]:
    """Words separated by commas, each once.

    Args:
        option: What they are given by, for the message.
        text: The words.
    """
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not found:
        raise InputError(f"{option} {text}: name at least one, several with commas between")
    return found


def whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers from 1 on separated by commas, each once, the smallest first.

    Args:
        option: What they are given by, for the message.
        text: The numbers.
    """
    found = words(option, text)
    if not all(word.isdecimal() and int(word) > 0 for word in found):
        raise InputError(f"{option} {text}: must be whole numbers from 1 on, with commas between, as in 2,8,32")
    return tuple(sorted({int(word) for word in found}))
