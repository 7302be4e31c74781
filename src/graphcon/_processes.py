"""Work in several processes, none of which outlives the one that started it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from typing import Any, Self, TypeVar

from graphcon.errors import InputError, ProcessError

Key = TypeVar("Key")
Result = TypeVar("Result")
_stopping: Event | None = None


def told_to_stop() -> bool:
    """Whether the process that started this one asks it to come to an end."""
    return _stopping is not None and _stopping.is_set()


class Processes:
    """Processes that are started once and take work until the context is left.

    Ctrl-C, and SIGTERM where it stands for it, are for the caller alone. When it stops, what is under way is asked to
    come to an end by :func:`told_to_stop`, and waited for; a second Ctrl-C ends the processes at once, and so does the
    caller's death.

    Args:
        workers: Their number.
    """

    def __init__(self, workers: int):
        # A process that was forked from one with OpenMP threads hangs: fresh ones are started.
        context = get_context("spawn")
        self._stopping, (lifeline, self._ours) = context.Event(), context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(workers, context, _begin, (self._stopping, lifeline))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def each(
        self, function: Callable[..., Result], jobs: Mapping[Key, tuple[Any, ...]]
    ) -> Iterator[tuple[Key, Result]]:
        """Yields ``(key, function(*job))`` as they are done.

        Args:
            function: What is called, by its name in a module.
            jobs: Its arguments.

        Raises:
            ProcessError: A process was ended from outside.
        """
        try:
            with _no_interrupt():
                futures = {self._pool.submit(function, *job): key for key, job in jobs.items()}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise ProcessError(
                "a process was ended from outside, as a system does that runs out of memory. What is done is kept: "
                "type the same command again to go on; fewer --workers need less memory"
            ) from None
        except BaseException as reason:  # Ctrl-C too: the processes must not go on without us
            self._stopping.set()
            if isinstance(reason, KeyboardInterrupt):
                print("\nFinishing what is under way; Ctrl-C again stops at once.", file=sys.stderr, flush=True)
            try:
                self._pool.shutdown(wait=True, cancel_futures=True)
            except KeyboardInterrupt:
                self._ours.close()
            raise


def leave_with_parent() -> None:
    """Ends this process soon after the one that started it has died, for which it might wait without end."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def in_processes(
    function: Callable[..., Result], jobs: Mapping[Key, tuple[Any, ...]], workers: int
) -> Iterator[tuple[Key, Result]]:
    """Yields ``(key, function(*job))`` as they are done by processes of their own: :class:`Processes` for one task."""
    with Processes(workers) as processes:
        yield from processes.each(function, jobs)


def threads_each(workers: int) -> int:
    """How many threads one of several processes should take."""
    return max(_processors() // workers, 1)


def _processors() -> int:
    """How many processors this process may use, where the system tells: it may be bound to some of them."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: int, jobs: int | None = None, cure: str = "") -> None:
    """Refuses a number of processes that makes no sense.

    Args:
        workers: The number.
        jobs: How many things there are to do, where that is known; one of them alone cannot be shared.
        cure: How there would be more.

    Raises:
        InputError: There is none to work, or nothing to share.
    """
    if workers < 1:
        raise InputError(f"--workers {workers}: must be at least 1")
    if workers > 1 and jobs == 1:
        raise InputError(f"--workers {workers}: there is one training, which one process does. {cure}")


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
