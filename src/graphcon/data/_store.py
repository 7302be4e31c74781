"""Where raw files are: found below the roots, fetched into the cache, never written to where the user has
them.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from graphcon._files import cache_folder, locked, write_json
from graphcon.data._catalogue import NamedSet
from graphcon.errors import InputError

# The folders of superpixel graphs, by the adjacency they were built with.
BUILDS = {"nearest": "slic75-nearest", "regions": "slic75-regions"}


def roots(root: str | Path | None = None) -> list[Path]:
    """Where data are looked for, in order: the given root, ``$GRAPHCON_DATA``, the cache.

    Raises:
        InputError: The given root, or the one in the environment, is no folder.
    """
    found = []
    for label, value in (("--data-root", root), ("$GRAPHCON_DATA", os.environ.get("GRAPHCON_DATA"))):
        if not value:
            continue
        path = Path(value).expanduser()
        if not path.is_dir():
            raise InputError(f"{label} {path}: there is no such folder. Name a folder that holds data sets.")
        found.append(path)
    return [*found, cache_folder()]


def find_raw(named: NamedSet, root: str | Path | None = None) -> Path | None:
    """The first ``raw`` folder below the roots that holds all files of the set."""
    if not named.raw_files:
        return None
    for place in roots(root):
        raw = place / named.folder / "raw"
        if _is_whole(named, raw):
            return raw
    return None


def find_built(root: str | Path | None = None) -> Path | None:
    """A finished build of superpixel graphs below the roots; nearest neighbours before touching regions."""
    for place in roots(root):
        for folder in BUILDS.values():
            if (place / "mnist_superpixels" / folder / "build.json").is_file():
                return place / "mnist_superpixels" / folder
    return None


def missing_message(named: NamedSet, root: str | Path | None, reason: str) -> str:
    """What to do about a set that is nowhere: the folders that were looked at, the files and their origin."""
    places = [place / named.folder / "raw" for place in roots(root)]
    partly = [
        f"{raw} lacks {', '.join(file for file in named.raw_files if not (raw / file).is_file())}"
        for raw in places
        if raw.is_dir()
    ]
    shown = ", ".join(named.raw_files[:3]) + (
        f", ... ({len(named.raw_files)} files)" if len(named.raw_files) > 3 else ""
    )
    lines = [f"{named.name} is not on this machine, and could not be fetched ({reason})."]
    lines.append(f"Put {shown} from {named.origin} into {places[0]}.")
    if partly:
        lines.append("; ".join(partly) + ".")
    elif len(places) > 1:
        lines.append(f"Also looked in {', '.join(map(str, places[1:]))}.")
    return " ".join(lines)


def reader_root(named: NamedSet, raw: Path) -> Path:
    """A folder of the cache in which PyG's class finds links to the raw files, and writes what it makes of
    them.

    Its name holds a digest of the files' paths, sizes and times and of PyG's version: what changed is read
    anew.
    """
    stats = [(file, (raw / file).stat()) for file in named.raw_files]
    files_as_they_are = [(file, s.st_size, s.st_mtime_ns) for file, s in stats]
    identity = json.dumps([str(raw.resolve()), files_as_they_are, version("torch-geometric")])
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    place = cache_folder() / "processed" / f"{named.name}-{digest}"
    links = place / named.reader_folder / "raw"
    with locked(place):
        links.mkdir(parents=True, exist_ok=True)
        for file in named.raw_files:
            link = links / file
            if not link.exists():
                link.unlink(missing_ok=True)
                link.symlink_to((raw / file).resolve())
    return place


@cache
def published_checksums() -> dict[str, dict[str, str]]:
    """SHA-256 of the published raw files, by set and file, for the sets where they are known."""
    return json.loads(files("graphcon.data").joinpath("checksums.json").read_text(encoding="utf-8"))


def verify(named: NamedSet, raw: Path, recorded: dict[str, str] | None = None) -> None:
    """Compares the raw files with the published checksums, or with those recorded when they were fetched.

    Raises:
        InputError: A file is not what it should be.
    """
    expected = published_checksums().get(named.name) or recorded or _recorded(raw)
    for file, checksum in expected.items():
        actual = sha256(raw / file)
        if actual != checksum:
            raise InputError(
                f"{raw / file}: its checksum is {actual[:12]}..., that of the published file is "
                f"{checksum[:12]}...: it is damaged or another. Delete it and fetch it again from "
                f"{named.origin}."
            )


def sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(named: NamedSet, make: Callable[[Path], object], root: str | Path | None) -> Path:
    """Lets PyG download the set into the cache, checks the files, and returns their folder.

    Args:
        named: The set.
        make: Makes PyG's download, given the root it may write to.
        root: The user's data root, for the message.
    """
    place = cache_folder() / "downloads" / named.name
    incoming = place / named.reader_folder / "raw"
    final = cache_folder() / named.folder / "raw"
    with locked(cache_folder() / "downloads"):
        if _is_whole(named, final):  # another process was faster
            return final
        # What an earlier attempt left may be half a file, which PyG would take for a whole one.
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        try:
            with _watched(named.name, place):
                make(place)
        except InputError:
            raise
        except Exception as error:  # whatever a network throws
            reason = str(error).strip().split("\n")[0][:120] or type(error).__name__
            raise InputError(missing_message(named, root, f"the download failed: {reason}")) from error
        if not _is_whole(named, incoming):
            raise InputError(missing_message(named, root, "the download lacks some of the files"))
        verify(named, incoming, recorded={})
        # The record goes first: the files are never there without it, also if this ends half way.
        write_json(final / _RECORD, {file: sha256(incoming / file) for file in named.raw_files})
        for file in named.raw_files:
            (incoming / file).replace(final / file)
        shutil.rmtree(place)
    return final


def _is_whole(named: NamedSet, raw: Path) -> bool:
    return all((raw / file).is_file() for file in named.raw_files)


_RECORD = "checksums.json"


def _recorded(raw: Path) -> dict[str, str]:
    record = raw / _RECORD
    if not record.is_file():
        return {}
    try:
        return dict(json.loads(record.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise InputError(
            f"{record}: is damaged, it must hold the checksum of every file beside it. Delete the folder {raw} to have "
            "the set fetched again, or this file alone if you know that the others are whole."
        ) from None


@contextmanager
def _watched(name: str, place: Path) -> Iterator[None]:
    """A progress bar on a terminal, from what arrives on disk: PyG's downloads do not report."""
    from threading import Event, Thread

    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from graphcon._console import make_console, say

    console = make_console(stderr=True)
    if not console.is_terminal:
        say(console, f"fetching {name} into {place}")
        yield
        return
    columns = (
        TextColumn("fetching {task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    done = Event()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name, total=None)

        def watch() -> None:
            while not done.wait(0.2):
                with suppress(OSError):  # PyG deletes an archive once it is unpacked
                    size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
                    progress.update(task, completed=size)

        thread = Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
