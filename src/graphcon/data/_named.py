"""Reads a named set: found or fetched, by PyG's own class, and split by its protocol."""

import shutil
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import overload

import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from graphcon.data import _protocols, _store, embedded
from graphcon.data._catalogue import NamedSet, describe
from graphcon.data._dataset import GraphDataset, GraphView
from graphcon.data._protocols import Protocol, Raw
from graphcon.data._statistics import largest_component
from graphcon.errors import InputError

_PARTS = ("train", "val", "test")


def load(
    name: str,
    root: str | Path | None = None,
    *,
    protocol: str | None = None,
    seed: int = 0,
    directed: bool | None = None,
    download: bool = True,
) -> GraphDataset:
    """A named set with its task and a split.

    Args:
        name: One of :func:`graphcon.data.names`.
        root: Where raw files are looked for first; then ``$GRAPHCON_DATA`` and the cache. Never written to.
        protocol: One of the set's protocols, the paper's by default.
        seed: Chooses the split.
        directed: Whether edges keep their direction; as published by default.
        download: Whether a set that is on no disk may be fetched.

    Raises:
        InputError: No such set or protocol, files that are missing or damaged.
    """
    named = describe(name)
    rule = _protocols.choose(protocol, named.protocols, named.name)
    if named.is_embedded and not rule.needs_masks:
        dataset, raw = _read_embedded(named)
    else:
        dataset, raw = _read_files(named, root, download)
    raw, dataset = _directed(raw, dataset, directed)
    return _split(raw, dataset, rule, seed)


def _split(raw: Raw, dataset: GraphDataset, rule: Protocol, seed: int) -> GraphDataset:
    if rule.largest_component:
        raw = Raw([largest_component(raw.graphs[0])])
    split = rule.draw(raw, seed)
    graphs = raw.graphs
    if rule.needs_masks or "train_mask" in graphs[0]:
        # The split is the truth, masks beside it would be a second one.
        graphs = [_without_masks(data) for data in graphs]
    splitter = partial(rule.draw, raw) if rule.seeded else None
    return replace(dataset, graphs=graphs, split=split, splitter=splitter)


def _without_masks(data: Data) -> Data:
    bare = data.clone()
    for part in _PARTS:
        if f"{part}_mask" in bare:
            del bare[f"{part}_mask"]
    return bare


def _directed(raw: Raw, dataset: GraphDataset, directed: bool | None) -> tuple[Raw, GraphDataset]:
    if directed is None or directed == dataset.directed:
        return raw, dataset
    if directed:
        raise InputError(f"{dataset.name} has no directions: its edges are published both ways. Leave out --directed.")
    graphs = []
    for data in raw.graphs:
        assert data.edge_index is not None
        both = data.clone()
        both.edge_index = to_undirected(data.edge_index, num_nodes=data.num_nodes)
        graphs.append(both)
    return Raw(graphs, raw.sizes), replace(dataset, directed=False)


def _read_embedded(named: NamedSet) -> tuple[GraphDataset, Raw]:
    if named.name == "cora":
        data, class_names = embedded.cora()
        return _dataset(named, [data], class_names=class_names, notes=()), Raw([data])
    molecules, _, facts = embedded.solubility()
    dataset = _dataset(named, molecules)
    return replace(dataset, feature_names=tuple(map(str, facts["atom_features"]))), Raw(molecules, named.sizes)


def _read_files(named: NamedSet, root: str | Path | None, download: bool) -> tuple[GraphDataset, Raw]:
    if named.reader == "ogb":
        return _read_ogb(named, download)
    raw = _store.find_raw(named, root)
    if raw is None and named.name == "mnist-superpixels":
        built = _store.find_built(root)
        if built is not None:
            from graphcon.data import superpixels

            graphs = superpixels.SuperpixelGraphs(built)
            facts = {
                "directed": graphs.directed,
                "notes": (graphs.note,),
                "feature_names": superpixels.FEATURES,
            }
            return _dataset(named, graphs, **facts), Raw(graphs, graphs.sizes)
    if raw is None:
        if not download:
            raise InputError(_store.missing_message(named, root, "downloading is switched off") + _how_else(named))
        try:
            raw = _store.fetch(named, lambda place: _download(named, place), root)
        except InputError as error:
            raise InputError(str(error) + _how_else(named)) from error
    _store.verify(named, raw)
    place = _store.reader_root(named, raw)
    with _store.locked(place):
        prepared = [*place.rglob("processed")]
        try:
            graphs, sizes = _read_parts(named, place)
        except Exception:  # whatever PyTorch makes of a file that a sudden stop or a full disk cut short
            if not prepared:
                raise
            for folder in prepared:
                shutil.rmtree(folder)
            graphs, sizes = _read_parts(named, place)
    if sizes != named.sizes:
        raise InputError(f"{raw}: {sizes} graphs for training, validation and test, {named.sizes} are published.")
    return _dataset(named, graphs), Raw(graphs, sizes)


def _read_parts(named: NamedSet, place: Path) -> tuple[Sequence[Data], tuple[int, int, int] | None]:
    """The graphs of a set, one after another where PyG keeps them as several, and how many there are in each part."""
    reader = _reader(named)
    if named.sizes is None:
        return [reader(str(place), **_arguments(named))[0]], None
    if named.name == "mnist-superpixels":
        from graphcon.data.superpixels import with_centroid

        train, test = (reader(str(place), train=flag, transform=with_centroid) for flag in (True, False))
        return _Joined([train, test]), (len(train) - 5000, 5000, len(test))
    parts = [reader(str(place), split=part, **_arguments(named)) for part in _PARTS]
    train, val, test = map(len, parts)
    return _Joined(parts), (train, val, test)


class _Joined(Sequence[Data]):
    """Data sets of PyG one after another; a graph is made when it is asked for."""

    def __init__(self, parts: Sequence[Sequence[Data]]):
        self.parts, self.ends = parts, list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return self.ends[-1]

    @overload
    def __getitem__(self, place: int) -> Data: ...
    @overload
    def __getitem__(self, place: slice) -> GraphView: ...
    def __getitem__(self, place: int | slice) -> Data | GraphView:
        if isinstance(place, slice):
            return GraphView(self, range(len(self))[place])
        place = range(len(self))[place]
        part = bisect_right(self.ends, place)
        return self.parts[part][place - (self.ends[part] - len(self.parts[part]))]


def _dataset(named: NamedSet, graphs: Sequence[Data], **changes) -> GraphDataset:
    """The facts of the catalogue with the graphs; the split is drawn afterwards."""
    first = graphs[0]
    edge_attr = first.edge_attr
    facts = {
        "name": named.name,
        "graphs": graphs,
        "task": named.task,
        "kind": named.kind,
        "num_outputs": named.outputs,
        "num_features": named.features if first.x is not None and first.x.is_floating_point() else 0,
        "num_categories": named.num_categories,
        "num_edge_categories": named.num_edge_categories,
        "edge_dim": edge_attr.view(edge_attr.size(0), -1).size(1)
        if edge_attr is not None and edge_attr.is_floating_point()
        else 0,
        "class_names": named.class_names,
        "target_names": named.target_names,
        "directed": named.directed,
        "notes": named.notes,
        "split": None,
    }
    return GraphDataset(**(facts | changes))


def _reader(named: NamedSet) -> type:
    from torch_geometric import datasets

    return getattr(datasets, named.reader)


def _arguments(named: NamedSet) -> dict:
    return ({"name": named.reader_name} if named.reader_name else {}) | (
        {"subset": True} if named.reader == "ZINC" else {}
    )


class _Downloaded(Exception):  # noqa: N818  # a signal, not an error
    """Raised in place of processing: only the files are wanted."""


def _download(named: NamedSet, place: Path) -> None:
    """PyG's own download, without the processing that its constructor goes on to."""

    def stop(self) -> None:
        raise _Downloaded

    reader = type(named.reader, (_reader(named),), {"_process": stop, "process": stop})
    try:
        reader(str(place), **_arguments(named))
    except _Downloaded:
        return


def _how_else(named: NamedSet) -> str:
    if named.name != "mnist-superpixels":
        return ""
    return " Or build such graphs from the images: graphcon data build mnist-superpixels --data-root FOLDER."


def _read_ogb(named: NamedSet, download: bool) -> tuple[GraphDataset, Raw]:
    """OGB's own reader, which wants to write, in the cache."""
    try:
        from ogb.nodeproppred import PygNodePropPredDataset  # pyright: ignore[reportMissingImports]  # an extra
    except ImportError as error:
        raise InputError(f"{named.name} needs the package ogb. Install it with: pip install 'graphcon[ogb]'") from error
    from torch_geometric.data import data, storage

    place = _store.cache_folder() / named.folder
    if not download and not (place / named.folder / "raw").is_dir():
        raise InputError(f"{named.name} is not in {place}, and downloading is switched off.")
    # OGB saves graphs by torch.save, and PyTorch reads back only the classes it is told of.
    known = [data.DataEdgeAttr, data.DataTensorAttr, storage.GlobalStorage]
    try:
        with _store.locked(place), torch.serialization.safe_globals(known):
            source = PygNodePropPredDataset(named.name, root=str(place))
    except Exception as error:  # whatever a network throws
        reason = str(error).strip().split("\n")[0][:120]
        raise InputError(
            f"{named.name} is not on this machine, and could not be fetched ({reason}). Put OGB's folder "
            f"{named.folder} (with raw, split and RELEASE_v1.txt), from {named.origin}, into {place}."
        ) from error
    graph, parts = source[0], source.get_idx_split()
    graph.y = graph.y.flatten()
    for part, key in zip(_PARTS, ("train", "valid", "test"), strict=True):
        mask = torch.zeros(graph.num_nodes, dtype=torch.bool)
        mask[parts[key]] = True
        graph[f"{part}_mask"] = mask
    return _dataset(named, [graph]), Raw([graph])
