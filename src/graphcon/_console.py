"""Where commands print: what users name, a class or a folder, stands there as they wrote it."""

from typing import Any, NoReturn

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table


def make_console(**options: Any) -> Console:
    """A console that reads no markup: ``[red]`` and ``:sun:`` may be names of the user's."""
    return _Console(markup=False, emoji=False, **options)


def say(console: Console, text: str) -> None:
    """Prints lines with paths or commands in them unbroken: half of one cannot be copied."""
    console.print(text, highlight=False, soft_wrap=True)


def titled_table(title: str, **options: Any) -> Table:
    """A table under its title, which stays on one line where the table is narrower."""
    return Table(title=title, title_justify="left", box=SIMPLE, min_width=len(title), **options)


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Lets the command line say what it means that the reader has gone; rich would leave with 1."""
        raise BrokenPipeError
