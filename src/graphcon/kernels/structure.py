"""The structure of a graph as the kernels need it, built once for all steps and kept for as long as the graph lives."""

import threading
import weakref
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor
from torch_geometric import EdgeIndex

from graphcon._validation import check_edge_index
from graphcon.kernels import _runtime
from graphcon.kernels.op import op

#: Slots are counted in 32 bits.
MOST_SLOTS = 2**31 - 1
#: As many structures and values are kept of one tensor of edges, which may meet any number of node counts.
MOST_KEPT = 8


class _Parts(NamedTuple):
    ptr: Tensor  # [nodes + 1] int32: where the slots of a target begin
    col: Tensor  # [slots] int32: the source
    tptr: Tensor  # [nodes + 1] int32: where the entries of a source begin
    trow: Tensor  # [slots] int32: the target
    tslot: Tensor  # [slots] int32: the slot of that entry
    row: Tensor  # [slots] int64: the target of a slot
    edge: Tensor  # [slots] int64: the edge in a slot; `edges` for an added loop, `edges + 1` for an unused slot


class Graph(_Parts):
    """A graph by targets (CSR) and by sources (its transpose). Slots are places in the rows, in order.

    Where every node gets exactly one self-loop, how many slots are used depends on the data; all arrays are as long
    as the number of edges and nodes together, and rows end where `ptr` says.
    """

    @cached_property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """ptr, col, tptr, trow and tslot, as the loops take them."""
        return tuple(part.numpy() for part in self[:5])

    def spread(self, per_edge: Tensor, loop: float) -> Tensor:
        """From one value per edge to one per slot: added loops get `loop`, unused slots zero."""
        added = per_edge.new_full((1, *per_edge.shape[1:]), loop)
        return torch.cat([per_edge, added, torch.zeros_like(added)])[self.edge]


@op("graphcon::csr")
def csr(edge_index: Tensor, nodes: int, loops: bool) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Sorts edges by target and by source. With `loops` every node has exactly one self-loop, the last it came with."""
    check_edge_index(edge_index, nodes)  # the loops look at nothing twice: an edge to nowhere would end the process
    if edge_index.size(1) + nodes > MOST_SLOTS:
        raise ValueError(f"edge_index has {edge_index.size(1):,} edges: with {nodes:,} nodes more than {MOST_SLOTS:,}")
    if edge_index.device.type != "cpu" or not _runtime.compiled(torch.empty(0, device="cpu")):
        ptr, col, tptr, trow, tslot, row, edge = plain_csr(edge_index, nodes, loops)
        return ptr, col, tptr, trow, tslot, row, edge
    from graphcon.kernels.loops.graph import sort_by_target, transpose

    ptr, col, tptr, trow, tslot, row, edge = _empty(edge_index, nodes, loops)
    source, target = edge_index.contiguous().numpy()
    sort_by_target(source, target, loops, ptr.numpy(), col.numpy(), row.numpy(), edge.numpy())
    transpose(ptr.numpy(), col.numpy(), tptr.numpy(), trow.numpy(), tslot.numpy())
    return ptr, col, tptr, trow, tslot, row, edge


@csr.register_fake
def _empty(edge_index: Tensor, nodes: int, loops: bool):
    slots = edge_index.size(1) + (nodes if loops else 0)
    sizes = (nodes + 1, slots, nodes + 1, slots, slots)
    small = [edge_index.new_empty(size, dtype=torch.int32) for size in sizes]
    return (*small, edge_index.new_empty(slots), edge_index.new_empty(slots))


def plain_csr(edge_index: Tensor, nodes: int, loops: bool) -> Graph:
    """What `csr` does, in torch."""
    (source, target), edges = edge_index, edge_index.size(1)
    number = torch.arange(edges, device=edge_index.device)
    if loops:
        every, looped = torch.arange(nodes, device=edge_index.device), source == target
        last = torch.full_like(every, -1).scatter_reduce(0, source[looped], number[looped], "amax")
        source, target = torch.cat([source[~looped], every]), torch.cat([target[~looped], every])
        number = torch.cat([number[~looped], torch.where(last < 0, edges, last)])
    order = torch.argsort(target, stable=True)
    row, col, edge = target[order], source[order], number[order]
    back = torch.argsort(col, stable=True)
    unused = (0, edges + (nodes if loops else 0) - len(row))
    pad = torch.nn.functional.pad
    return Graph(
        _ends(target, nodes),
        pad(col.int(), unused),
        _ends(source, nodes),
        pad(row[back].int(), unused),
        pad(back.int(), unused),
        pad(row, unused),
        pad(edge, unused, value=edges + 1),
    )


def _ends(index: Tensor, nodes: int) -> Tensor:
    return torch.nn.functional.pad(torch.bincount(index, minlength=nodes).cumsum(0), (1, 0)).int()


class Known:
    """What is known of one tensor of edges, while it lives and its content stays what it was."""

    def __init__(self, edge_index: Tensor, content: int):
        self.of, self.content = weakref.ref(edge_index, _forget), content
        self.graphs: dict[tuple[int, bool], Graph] = {}
        self.values: dict[Any, tuple[int | None, Tensor]] = {}

    def graph(self, edge_index: Tensor, nodes: int, loops: bool) -> Graph:
        """Its structure; with `loops` every node has exactly one self-loop."""
        graph = self.graphs.get((nodes, loops))
        if graph is None:
            with torch.inference_mode(False):  # training may follow on the same graph
                graph = Graph(*csr(_plain_tensor(edge_index), nodes, loops))
            _keep(self.graphs, (nodes, loops), graph)
        return graph

    def value(self, key: Any, given: Tensor | None, build: Callable[[], Tensor]) -> Tensor:
        """What `build` makes from the graph and a value per edge, kept while neither changes.

        Args:
            key: What tells this result from others of the same graph.
            given: The values it is made from. Where they need gradients, nothing is kept.
            build: Makes it.
        """
        if given is not None and given.requires_grad:
            return build()
        content = None if given is None else _content(given)
        held = self.values.get(key)
        if held is None or held[0] != content:
            with torch.inference_mode(False), torch.no_grad():
                held = content, build()
            _keep(self.values, key, held)
        return held[1]


def _keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    """Keeps a value among the last there were."""
    with _lock:
        kept.pop(key, None)
        while len(kept) >= MOST_KEPT:
            del kept[next(iter(kept))]
        kept[key] = value


class Unknown:
    """The same while a program is traced: nothing is kept, for what is traced are not the values."""

    def graph(self, edge_index: Tensor, nodes: int, loops: bool) -> Graph:
        return Graph(*csr(_plain_tensor(edge_index), nodes, loops))

    def value(self, key: Any, given: Tensor | None, build: Callable[[], Tensor]) -> Tensor:
        return build()


_known: dict[int, Known] = {}
_lock = threading.RLock()


def constant(value: float, length: int, like: Tensor) -> Tensor:
    """A vector of equal numbers, not to be written to."""
    return like.new_full((length,), value) if _runtime.is_traced() else _constant(value, length, like.dtype)


@lru_cache
def _constant(value: float, length: int, dtype: torch.dtype) -> Tensor:
    with torch.inference_mode(False):
        return torch.full((length,), value, dtype=dtype, device="cpu")


def identity(channels: int, like: Tensor) -> Tensor:
    """The matrix with which a product copies, which is exact; not to be written to."""
    if _runtime.is_traced():
        return torch.eye(channels, dtype=like.dtype, device=like.device)
    return _identity(channels, like.dtype)


@lru_cache(maxsize=8)
def _identity(channels: int, dtype: torch.dtype) -> Tensor:
    with torch.inference_mode(False):
        return torch.eye(channels, dtype=dtype, device="cpu")


def known(edge_index: Tensor) -> Known | Unknown:
    """What is known of a graph from earlier calls; nothing where the content of `edge_index` has changed.

    The content is looked at every time: a change through NumPy or ``.data`` leaves no trace in a tensor's version.
    """
    if _runtime.is_traced():
        return Unknown()
    content, key = _content(edge_index), id(edge_index)
    with _lock:
        entry = _known.get(key)
        if entry is None or entry.of() is not edge_index or entry.content != content:
            entry = _known[key] = Known(edge_index, content)
        return entry


def _forget(ref: Any) -> None:
    with _lock:
        for key in [key for key, entry in _known.items() if entry.of is ref]:
            del _known[key]


def _content(values: Tensor) -> int:
    from graphcon.kernels.loops.graph import fingerprint

    array = _plain_tensor(values.detach()).numpy().reshape(-1)
    if array.dtype.kind == "f":
        array = array.view(np.int32 if array.itemsize == 4 else np.int64)
    return hash((int(fingerprint(array)), values.dtype))


def _plain_tensor(value: Tensor) -> Tensor:
    return cast(Tensor, value.as_subclass(Tensor)) if isinstance(value, EdgeIndex) else value
