"""A log for TensorBoard, beside the one that is always written."""

from pathlib import Path
from typing import Any

from graphcon.errors import InputError
from graphcon.training.loop import Reporter


def find_writer() -> Any:
    """What writes event files.

    Raises:
        InputError: TensorBoard is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise InputError("--tensorboard needs TensorBoard. Install it with: pip install 'graphcon[track]'") from error
    return SummaryWriter


class TensorBoardReporter:
    """Writes every epoch to an event file, and hands it on.

    Args:
        folder: Where the event file goes.
        inner: Whom else to tell.
    """

    def __init__(self, folder: Path, inner: Reporter | None):
        self.writer, self.inner = find_writer()(str(folder)), inner

    def epoch(self, record: dict[str, Any]) -> None:
        """Called after every epoch."""
        figures = {"loss": record["loss"], "lr": record["lr"]}
        figures |= {f"val/{name}": value for name, value in record.get("val", {}).items()}
        for name, value in figures.items():
            self.writer.add_scalar(name, value, record["epoch"])
        self.writer.flush()
        if self.inner is not None:
            self.inner.epoch(record)

    def running(self, record: dict[str, Any]) -> None:
        """Called within an epoch, of which the event file holds the end."""
        if self.inner is not None:
            self.inner.running(record)
