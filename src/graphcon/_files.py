"""Where files go and how: whole or not at all, so that at every moment the old one or the new one is there."""

import csv
import io
import json
import math
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from graphcon.errors import InputError


def cache_folder() -> Path:
    """Where this package may write: ``$GRAPHCON_CACHE``, or ``~/.cache/graphcon``.

    The user of a container may have no home: then it is a folder among the temporary ones.

    Raises:
        InputError: That folder is somebody else's, who could put anything into it.
    """
    if told := os.environ.get("GRAPHCON_CACHE"):
        return Path(told)
    try:
        return Path.home() / ".cache" / "graphcon"
    except RuntimeError:
        place = Path(tempfile.gettempdir()) / f"graphcon-{os.getuid()}"
        place.mkdir(mode=0o700, exist_ok=True)
        if place.stat().st_uid != os.getuid():
            raise InputError(f"{place}: belongs to another user. Set GRAPHCON_CACHE to a folder of your own") from None
        return place


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file, and makes the folders it is in.

    Raises:
        OSError: It cannot be written; the error names the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # In two containers that share a folder, two processes may have the same id.
    temporary = path.with_name(f".{path.name}.{os.getpid()}{secrets.randbelow(10**6):06}")
    try:
        with naming(path):
            with temporary.open("wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors within this context name the file: a full disk does not say for which one it is."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_json(path: Path, values: Any) -> None:
    """Writes plain values as JSON, null for what is not finite."""
    write_whole(path, json.dumps(defined(values), indent=1, allow_nan=False) + "\n")


def defined(values: Any) -> Any:
    """Plain values with None for every number that is NaN or infinite: JSON has no word for these."""
    if isinstance(values, dict):
        return {key: defined(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [defined(value) for value in values]
    return None if isinstance(values, float) and not math.isfinite(values) else values


def numbers(values: dict[str, Any]) -> dict[str, Any]:
    """Values as :func:`defined` has left them, with NaN for what is not defined."""
    return {name: math.nan if value is None else value for name, value in values.items()}


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Writes a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_whole(path, text.getvalue())


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """One process at a time in a folder, which is made. Without locks (Windows) nothing is done."""
    place.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (place / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def held(place: Path, doing: str) -> Iterator[None]:
    """Keeps a folder to this process; one that dies lets go of it.

    Args:
        place: The folder.
        doing: What it is kept for, for the message.

    Raises:
        InputError: Another process has it.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(place / ".lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise InputError(f"{place}: another process is {doing}. Wait for it to end, or name another folder") from None
    try:
        yield
    finally:
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()
