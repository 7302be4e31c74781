"""How a training goes, on a terminal as a bar and elsewhere as a line now and then."""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from graphcon._console import make_console
from graphcon._words import shown
from graphcon.stability import DegenerateDynamicsWarning, UnstableDynamicsWarning

SECONDS_BETWEEN_LINES = 5.0
#: The same within an epoch of many batches, and in a table of many trainings.
SECONDS_WITHIN = 30.0


class _Figures:
    """What is shown of a training beside how far it is."""

    val = ""

    def figures(self, record: dict[str, Any]) -> str:
        """The loss, and the metric of the last validation."""
        for name, value in record.get("val", {}).items():
            self.val = f"val {name} {shown(value)}"
        return f"loss {shown(record['loss'])}  {self.val}".rstrip()


class BarReporter(_Figures):
    """Moves a bar by epochs, and by parts of an epoch where that is many batches.

    Args:
        progress: Where the bar is.
        task: Which of its bars.
        before: How many epochs of it are others'.
    """

    def __init__(self, progress: Progress, task: TaskID, before: int = 0):
        self.progress, self.task, self.before = progress, task, before

    def epoch(self, record: dict[str, Any]) -> None:
        """Called after every epoch."""
        self.progress.update(self.task, completed=self.before + record["epoch"], figures=self.figures(record))

    def running(self, record: dict[str, Any]) -> None:
        """Called within an epoch."""
        self.epoch(record)


class LineReporter(_Figures):
    """Prints a line now and then.

    Args:
        label: What is trained.
        epochs: How many epochs there are at the most.
        one_of_many: Whether it is one of many trainings: then one that is soon over has no line.
    """

    def __init__(self, label: str, epochs: int, one_of_many: bool = False):
        self.label, self.epochs, self.one_of_many, self.shown = label, epochs, one_of_many, time.monotonic()

    def epoch(self, record: dict[str, Any]) -> None:
        """Called after every epoch."""
        if self.one_of_many:
            self._show(record, SECONDS_WITHIN)
        else:
            self._show(record, 0.0 if record["epoch"] == self.epochs else SECONDS_BETWEEN_LINES)

    def running(self, record: dict[str, Any]) -> None:
        """Called within an epoch."""
        self._show(record, SECONDS_WITHIN)

    def _show(self, record: dict[str, Any], between: float) -> None:
        now, figures = time.monotonic(), self.figures(record)
        if now - self.shown >= between:
            self.shown = now
            done = f"epoch {round(record['epoch'], 2):g}/{self.epochs}"
            print(f"{self.label}  {done}  {figures}  {record['seconds']:.1f} s", flush=True)


@contextmanager
def reporting(console: Console) -> Iterator[Callable[[str, int], BarReporter | LineReporter]]:
    """Yields a function that makes a reporter for a run: ``make(label, epochs)``."""
    if not console.is_terminal:
        yield LineReporter
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
        yield lambda label, epochs: BarReporter(progress, progress.add_task(label, total=epochs, figures=""))


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
