"""What all commands share: the application they are registered with, the console, what they check before they load."""

from pathlib import Path

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


def whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers separated by commas."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"{option} {text}: must be whole numbers from 1 up, separated by commas, as in 2,8,32")
    return tuple(int(part) for part in parts)
