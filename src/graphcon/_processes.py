"""Work in several processes, none of which outlives the one that started it."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from typing import Any, TypeVar

from graphcon.errors import ProcessError

Key = TypeVar("Key")
Result = TypeVar("Result")
_stopping: Event | None = None


def told_to_stop() -> bool:
    """Whether the process that started this one asks it to come to an end."""
    return _stopping is not None and _stopping.is_set()


def in_processes(
    function: Callable[..., Result], jobs: Mapping[Key, tuple[Any, ...]], workers: int
) -> Iterator[tuple[Key, Result]]:
    """Yields ``(key, function(*job))`` as they are done.

    Ctrl-C is for the caller alone. When it stops, what is under way is asked to come to an end by
    :func:`told_to_stop`, and waited for; a second Ctrl-C ends the processes at once, and so does the caller's death.

    Args:
        function: What is called, by its name in a module.
        jobs: Its arguments.
        workers: Number of processes.

    Raises:
        ProcessError: A process was ended from outside.
    """
    # A process that was forked from one with OpenMP threads hangs: fresh ones are started.
    context = get_context("spawn")
    stopping, (lifeline, ours) = context.Event(), context.Pipe(duplex=False)
    with ProcessPoolExecutor(workers, context, _begin, (stopping, lifeline)) as pool:
        with _no_interrupt():
            futures = {pool.submit(function, *job): key for key, job in jobs.items()}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise ProcessError(
                "a process was ended from outside, as a system does that runs out of memory. What is done is kept: "
                "type the same command again to go on; fewer --workers need less memory"
            ) from None
        except BaseException as reason:  # Ctrl-C too: the processes must not go on without us
            stopping.set()
            if isinstance(reason, KeyboardInterrupt):
                print("\nFinishing what is under way; Ctrl-C again stops at once.", file=sys.stderr, flush=True)
            try:
                pool.shutdown(wait=True, cancel_futures=True)
            except KeyboardInterrupt:
                ours.close()
            raise


def _begin(stopping: Event, lifeline: Connection) -> None:
    """The first thing that a process does."""
    global _stopping
    _stopping = stopping
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with, args=(lifeline,), daemon=True).start()


def _leave_with(lifeline: Connection) -> None:
    """Ends this process when the other end of a pipe is closed, also by the death of who holds it."""
    lifeline.poll(None)
    os._exit(1)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """What is started within this context does not see Ctrl-C, from its very beginning."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
