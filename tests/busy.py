"""Work for processes of their own, which need not load more than this."""

import os
import time
from pathlib import Path

from graphcon._processes import told_to_stop


def work(folder: Path, number: int) -> None:
    """Says that it has begun, and goes on until it is asked to stop."""
    (folder / f"{number}.{os.getpid()}").touch()
    while not told_to_stop():
        time.sleep(0.01)
