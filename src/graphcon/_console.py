"""Where commands print: what users name, a class or a folder, stands there as they wrote it."""

from typing import Any

from rich.console import Console


def make_console(**options: Any) -> Console:
    """A console that reads no markup: ``[red]`` and ``:sun:`` may be names of the user's."""
    return Console(markup=False, emoji=False, **options)
