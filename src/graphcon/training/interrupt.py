"""Ctrl-C asks the loop to finish its epoch, save and stop; a second one stops at once."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from graphcon._processes import told_to_stop

_requested = False


def stop_requested() -> bool:
    """Whether the user has pressed Ctrl-C within :func:`gently`, or the process that started this one has to stop."""
    return _requested or told_to_stop()


@contextmanager
def gently() -> Iterator[None]:
    """Within this context the first Ctrl-C is a request; it is left to Python elsewhere and in other threads.

    A process that ignores Ctrl-C goes on to do so.
    """
    global _requested
    _requested = False
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: FrameType | None) -> None:
        global _requested
        if _requested:
            raise KeyboardInterrupt
        _requested = True
        print("\nFinishing the epoch, then saving; Ctrl-C again stops at once.", file=sys.stderr, flush=True)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _requested = False
