"""How a training goes, on a terminal as a bar and elsewhere as a line now and then."""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from graphcon._console import make_console
from graphcon.stability import DegenerateDynamicsWarning, UnstableDynamicsWarning

SECONDS_BETWEEN_LINES = 5.0


class ConsoleReporter:
    """Shows the epochs of one run.

    Args:
        epochs: How many there are at the most.
        label: What is trained.
        progress: The bar, where the console is a terminal.
    """

    def __init__(self, epochs: int, label: str, progress: Progress | None):
        self.epochs, self.label, self.progress = epochs, label, progress
        self.task = None if progress is None else progress.add_task(label, total=epochs, figures="")
        self.shown, self.val = 0.0, ""

    def epoch(self, record: dict[str, Any]) -> None:
        """Called after every epoch."""
        for name, value in record.get("val", {}).items():
            self.val = f"val {name} {value:.4f}"
        figures = f"loss {record['loss']:.4f}  {self.val}"
        if self.progress is not None and self.task is not None:
            self.progress.update(self.task, completed=record["epoch"], figures=figures)
            return
        now = time.monotonic()
        if now - self.shown >= SECONDS_BETWEEN_LINES or record["epoch"] == self.epochs:
            self.shown = now
            print(
                f"{self.label}  epoch {record['epoch']}/{self.epochs}  {figures}  {record['seconds']:.1f} s", flush=True
            )


@contextmanager
def reporting(console: Console) -> Iterator[Any]:
    """Yields a function that makes a reporter for a run: ``make(label, epochs)``."""
    if not console.is_terminal:
        yield lambda label, epochs: ConsoleReporter(epochs, label, None)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[figures]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=False) as progress:
        yield lambda label, epochs: ConsoleReporter(epochs, label, progress)


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """Yields a function for work of many parts: what it is told stands below on a terminal, elsewhere now and then."""
    console = make_console(stderr=True)
    if console.is_terminal:
        with console.status("") as status:
            yield lambda what: status.update(what)
        return
    shown = time.monotonic()

    def tell(what: str) -> None:
        nonlocal shown
        if time.monotonic() - shown >= SECONDS_BETWEEN_LINES:
            shown = time.monotonic()
            print(f"graphcon: {what} ...", file=sys.stderr, flush=True)

    yield tell


def show_warnings_plainly() -> None:
    """A warning about the dynamics is for the user; its place in the code is not."""

    def show(message: Any, category: type[Warning], *_: Any) -> str:
        return f"{message}\n"

    warnings.formatwarning = show
    warnings.filterwarnings("ignore")
    for category in (DegenerateDynamicsWarning, UnstableDynamicsWarning):
        warnings.filterwarnings("once", category=category)
