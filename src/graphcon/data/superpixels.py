"""MNIST as graphs of 75 superpixels, built from the images: in parallel, resumable, memory-mapped.

    graphcon data build mnist-superpixels --data-root FOLDER

The result is a folder of four arrays and ``build.json``. While it is being built its name ends in
``.partial``; what is done there is kept when the work stops, and the same command goes on.
"""

import gzip
import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import torch
from torch_geometric.data import Data

from graphcon._files import held, write_json
from graphcon._processes import check_workers, in_processes
from graphcon.data import _slic, _store
from graphcon.errors import InputError

FEATURES = ("intensity", "x", "y")
CHUNK = 500
_FILES = {
    "train-images-idx3-ubyte": 60_000,
    "train-labels-idx1-ubyte": 60_000,
    "t10k-images-idx3-ubyte": 10_000,
    "t10k-labels-idx1-ubyte": 10_000,
}


class SuperpixelGraphs(Sequence[Data]):
    """The built graphs, read from disk when they are asked for.

    A graph has ``x`` [75, 3] (mean intensity and centroid, between 0 and 1), ``pos`` [75, 2] (the centroid),
    ``edge_index`` and ``y``.

    Args:
        folder: What :func:`build` returned.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        try:
            facts = json.loads((self.folder / "build.json").read_text(encoding="utf-8"))
            self.adjacency: _slic.Adjacency = facts["adjacency"]
            self.sizes: tuple[int, int, int] = tuple(facts["sizes"])
            self._open()
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{self.folder}: is a damaged build ({error}). Delete it and build it again.") from None

    def _open(self) -> None:
        names = ("intensity", "centroid", "edges", "label")
        self._arrays = {name: np.load(self.folder / f"{name}.npy", mmap_mode="r") for name in names}

    def __getstate__(self) -> dict:
        """Without the arrays: a process that gets this object opens the files itself, and shares their
        pages.
        """
        return {key: value for key, value in vars(self).items() if key != "_arrays"}

    def __setstate__(self, state: dict) -> None:
        """Opens the files again."""
        vars(self).update(state)
        self._open()

    @property
    def directed(self) -> bool:
        """Whether edges have a direction: a node's nearest neighbours need not have it among theirs."""
        return self.adjacency == "nearest"

    @property
    def note(self) -> str:
        """What these graphs are."""
        edges = "the 8 nearest centroids" if self.directed else "regions that touch"
        return f"Superpixels by SLIC, edges to {edges}: not the construction of the paper, see docs/data.md."

    def __len__(self) -> int:
        """How many graphs there are."""
        return len(self._arrays["label"])

    def __getitem__(self, place: int) -> Data:  # pyright: ignore[reportIncompatibleMethodOverride]  # no slices
        """The graph of one image."""
        arrays = self._arrays
        centroid = torch.from_numpy(arrays["centroid"][place].astype(np.float32) / _slic.FULL)
        intensity = torch.from_numpy(arrays["intensity"][place].astype(np.float32) / _slic.FULL)
        stored = torch.from_numpy(arrays["edges"][place].astype(np.int64))
        if self.adjacency == "nearest":
            target = torch.arange(stored.size(0)).repeat_interleave(stored.size(1))
            edge_index = torch.stack([stored.flatten(), target])
        else:
            pairs = stored[stored[:, 0] != _slic.PADDING].t()
            edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        return Data(
            x=torch.cat([intensity[:, None], centroid], dim=1),
            edge_index=edge_index,
            y=torch.tensor([int(arrays["label"][place])]),
            pos=centroid,
        )


def build(
    root: str | Path | None = None,
    out: str | Path | None = None,
    *,
    adjacency: _slic.Adjacency = "nearest",
    workers: int | None = None,
    limit: int | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Path:
    """Makes the graphs of all 70,000 images, or goes on where it was stopped.

    Args:
        root: Where ``mnist/raw`` is looked for first; then ``$GRAPHCON_DATA`` and the cache. Never written
            to.
        out: The folder to make, in the cache by default.
        adjacency: ``"nearest"``: from the 8 nearest centroids to every node; ``"regions"``: between regions
            that touch, both ways.
        workers: Processes, as many as there are processors by default.
        limit: Only so many images, divided 11 : 1 : 2 as the whole.
        report: Called with the numbers of images done and of all.

    Returns:
        The folder.
    """
    if adjacency not in get_args(_slic.Adjacency):
        raise InputError(f"--adjacency {adjacency}: must be one of {', '.join(get_args(_slic.Adjacency))}.")
    _slic._slic()
    name = _store.BUILDS[adjacency] + (f"-{limit}" if limit else "")
    final = Path(out) if out else _store.cache_folder() / "mnist_superpixels" / name
    check_workers(1 if workers is None else workers)
    sizes = _sizes(limit)
    if (final / "build.json").is_file():
        _check_same(SuperpixelGraphs(final), adjacency, sizes)
        return final
    if final.exists():
        raise InputError(f"--out {final}: exists and is not a finished build. Name a new folder.")
    images, labels = _read_images(root, sizes)
    work = final.with_name(final.name + ".partial")
    work.mkdir(parents=True, exist_ok=True)
    with held(work, "building there"):
        if not (work / "build.json").is_file():  # else it was stopped when all was done
            _build(work, images, labels, sizes, adjacency, workers or os.cpu_count() or 1, report)
        for name in ("done.npy", ".lock"):
            (work / name).unlink(missing_ok=True)
        work.rename(final)
    return final


def _check_same(built: SuperpixelGraphs, adjacency: _slic.Adjacency, sizes: tuple[int, int, int]) -> None:
    """Refuses to take a finished build for another."""
    if (built.adjacency, built.sizes) != (adjacency, sizes):
        raise InputError(
            f"--out {built.folder}: holds a build of {sum(built.sizes):,} images with --adjacency {built.adjacency}, "
            f"not of {sum(sizes):,} with {adjacency}. Name another folder."
        )


def _build(
    work: Path,
    images: np.ndarray,
    labels: np.ndarray,
    sizes: tuple[int, int, int],
    adjacency: _slic.Adjacency,
    workers: int,
    report: Callable[[int, int], None] | None,
) -> None:
    """Makes what is missing of the graphs in a folder."""
    arrays, done = _open(work, labels, adjacency)
    starts = [start for start in range(0, len(images), CHUNK) if not done[start // CHUNK]]
    count = len(images) - sum(min(CHUNK, len(images) - start) for start in starts)
    notify = report or (lambda done, total: None)
    notify(count, len(images))
    jobs = {start: images[start : start + CHUNK] for start in starts}
    for start, chunk in _in_parallel(partial(_slic.build_graphs, adjacency=adjacency), jobs, workers):
        stop = start + len(chunk["intensity"])
        for key, values in chunk.items():
            arrays[key][start:stop] = values
            arrays[key].flush()
        # Only after the values are on disk: a chunk that is marked is whole.
        done[start // CHUNK] = 1
        done.flush()
        count += stop - start
        notify(count, len(images))
    facts = {
        "adjacency": adjacency,
        "num_segments": _slic.NUM_SEGMENTS,
        "compactness": _slic.COMPACTNESS,
        "sizes": sizes,
    }
    del arrays, done
    write_json(work / "build.json", facts)


def with_centroid(data: Data) -> Data:
    """A superpixel graph of PyG with the centroid beside the intensity, in the form of
    :class:`SuperpixelGraphs`.
    """
    assert data.x is not None
    assert data.pos is not None
    data.pos = data.pos / (_slic.SIDE - 1)
    data.x = torch.cat([data.x, data.pos], dim=1)
    return data


def _in_parallel(function: Callable, jobs: dict[int, np.ndarray], workers: int):
    """Yields ``(key, function(job))`` as they are done."""
    if workers == 1:
        yield from ((key, function(job)) for key, job in jobs.items())
        return
    yield from in_processes(function, {key: (job,) for key, job in jobs.items()}, workers)


def _open(work: Path, labels: np.ndarray, adjacency: _slic.Adjacency) -> tuple[dict[str, np.memmap], np.memmap]:
    """The arrays on disk and the marks of finished chunks: made, or opened where a build was stopped."""
    num_images = len(labels)
    shapes = {
        "intensity": ((num_images, _slic.NUM_SEGMENTS), np.uint16),
        "centroid": ((num_images, _slic.NUM_SEGMENTS, 2), np.uint16),
        "edges": ((num_images, *_slic.edge_shape(adjacency)), np.uint8),
        "done": ((-(-num_images // CHUNK),), np.uint8),
    }
    arrays = {}
    for name, (shape, dtype) in shapes.items():
        path = work / f"{name}.npy"
        if not path.is_file():
            _make_room(path, shape, dtype)
        try:
            np.load(path, mmap_mode="r")  # opened to be written, a file that is too short would be filled with zeros
            arrays[name] = np.lib.format.open_memmap(path, mode="r+")
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: is damaged ({error}). Delete {work} and start again.") from None
        if arrays[name].shape != shape:
            raise InputError(f"{path}: is from a build of another size. Delete {work} and start again.")
    np.save(work / "label.npy", labels)
    return arrays, arrays.pop("done")


def _make_room(path: Path, shape: tuple[int, ...], dtype: type[np.generic]) -> None:
    """Makes an array of zeros on disk.

    Raises:
        OSError: The disk is full: told here, where writing to a page that has no place would end the process.
    """
    new = path.with_suffix(".new")
    np.lib.format.open_memmap(new, mode="w+", dtype=dtype, shape=shape).flush()
    if hasattr(os, "posix_fallocate"):
        with new.open("rb+") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, new.stat().st_size)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(path)) from None
    new.replace(path)


def _sizes(limit: int | None) -> tuple[int, int, int]:
    """The sizes of the three parts."""
    if limit is None:
        return (55_000, 5000, 10_000)
    if not 14 <= limit <= 70_000:
        raise InputError(f"--limit {limit}: must lie between 14 and 70,000.")
    return (limit - limit // 14 - limit // 7, limit // 14, limit // 7)


def _read_images(root: str | Path | None, sizes: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels, the original test images last."""
    raw = _find_images(root)
    train, train_labels, test, test_labels = (_read_idx(raw, name, count) for name, count in _FILES.items())
    num_train, num_test = sizes[0] + sizes[1], sizes[2]
    images, labels = [train[:num_train], test[:num_test]], [train_labels[:num_train], test_labels[:num_test]]
    return np.concatenate(images), np.concatenate(labels)


def _find_images(root: str | Path | None) -> Path:
    places = [place / "mnist" / "raw" for place in _store.roots(root)]
    for raw in places:
        if all((raw / name).is_file() or (raw / f"{name}.gz").is_file() for name in _FILES):
            return raw
    raise InputError(
        f"the images of MNIST are not on this machine. Put {', '.join(f'{name}.gz' for name in _FILES)} "
        f"(the original idx files) into {places[0]}."
    )


def _read_idx(raw: Path, name: str, count: int) -> np.ndarray:
    path = raw / name if (raw / name).is_file() else raw / f"{name}.gz"
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be unpacked ({error}). Fetch the file again.") from error
    shape = (count, _slic.SIDE, _slic.SIDE) if "images" in name else (count,)
    # An idx file opens with 0, 0, the type (8: bytes), the number of dimensions, and the dimensions.
    header = bytes([0, 0, 8, len(shape)]) + b"".join(size.to_bytes(4, "big") for size in shape)
    if not content.startswith(header) or len(content) != len(header) + int(np.prod(shape)):
        raise InputError(
            f"{path}: is not the idx file of {count} {'images' if 'images' in name else 'labels'} of MNIST. "
            "Fetch the original file again."
        )
    return np.frombuffer(content, dtype=np.uint8, offset=len(header)).reshape(shape)
