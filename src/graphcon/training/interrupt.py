"""Ctrl-C asks the loop to save and stop; a second one stops at once. So does SIGTERM."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from graphcon._processes import told_to_stop

_requested = False


def stop_requested() -> bool:
    """Whether the user has pressed Ctrl-C within :func:`gently`, or the process that started this one has to stop."""
    return _requested or told_to_stop()


@contextmanager
def gently() -> Iterator[None]:
    """Within this context the first Ctrl-C is a request; it is left to Python elsewhere and in other threads.

    So is SIGTERM where it stands for Ctrl-C, as it does for the commands; what ends a process or is ignored stays so.
    """
    global _requested
    _requested = False
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: FrameType | None) -> None:
        global _requested
        if _requested:
            raise KeyboardInterrupt
        _requested = True
        with suppress(OSError):  # the terminal may have gone
            print("\nSaving, then stopping; Ctrl-C again stops at once.", file=sys.stderr, flush=True)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heeded = {number: handler for number, handler in before.items() if callable(handler)}
    try:
        for number in heeded:
            signal.signal(number, ask)
        yield
    finally:
        for number, handler in heeded.items():
            signal.signal(number, handler)
        _requested = False


def heed_sigterm() -> None:
    """A system that ends a process, as clusters and containers do, is heeded like a user who presses Ctrl-C."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
