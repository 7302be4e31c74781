"""What a rival computes from the graph alone: once per graph, whatever batch it comes in."""

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

#: Makes something of one connected graph, from its edges ``[2, edges]`` and its number of nodes.
Build = Callable[[np.ndarray, int], Any]

# Enough for every graph of a benchmark of molecules; what was used longest ago goes first.
_MOST = 20_000
_known: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def per_node(key: Any, edge_index: Tensor, nodes: int, build: Build) -> Tensor:
    """What ``build`` makes of every connected part of a graph, a row per node.

    Args:
        key: What tells this result from others of the same graph.
        edge_index: The edges, ``[2, edges]``.
        nodes: The number of nodes.
        build: Makes rows ``[nodes, ...]`` of a connected graph.
    """
    order, rows = [], []
    for members, part in _parts(key, edge_index, nodes, build):
        order.append(members)
        rows.append(part)
    out = np.concatenate(rows)
    out[np.concatenate(order)] = out.copy()
    return torch.from_numpy(out).to(edge_index.device)


def per_edge(key: Any, edge_index: Tensor, nodes: int, build: Build) -> tuple[Tensor, Tensor]:
    """New edges that ``build`` draws in every connected part of a graph, and a value for each.

    Args:
        key: What tells this result from others of the same graph.
        edge_index: The edges, ``[2, edges]``.
        nodes: The number of nodes.
        build: Makes edges ``[2, edges]`` and values ``[edges]`` of a connected graph.
    """
    parts = _parts(key, edge_index, nodes, build)
    edges = np.concatenate([members[part[0]] for members, part in parts], axis=1)
    values = np.concatenate([part[1] for _, part in parts])
    return torch.from_numpy(edges).to(edge_index.device), torch.from_numpy(values).to(edge_index.device)


def _parts(key: Any, edge_index: Tensor, nodes: int, build: Build) -> list[tuple[np.ndarray, Any]]:
    """The nodes of every connected part, and what is made of it: taken by content, so a changed graph is another."""
    if torch.compiler.is_compiling():
        raise NotImplementedError("what it computes from the graph beforehand cannot be part of a program")
    edges = edge_index.detach().cpu().numpy()
    matrix = coo_array((np.ones(edges.shape[1], dtype=np.int8), (edges[0], edges[1])), shape=(nodes, nodes))
    count, label = connected_components(matrix, directed=False)
    by_part, by_edge = np.argsort(label, kind="stable"), np.argsort(label[edges[0]], kind="stable")
    place = np.empty(nodes, dtype=np.int64)
    ends = np.cumsum(np.bincount(label, minlength=count))
    place[by_part] = np.arange(nodes) - np.repeat(np.r_[0, ends[:-1]], np.diff(np.r_[0, ends]))
    edge_ends = np.cumsum(np.bincount(label[edges[0]], minlength=count))
    local = place[edges[:, by_edge]]
    parts = []
    for part, members in enumerate(np.split(by_part, ends[:-1])):
        own = local[:, edge_ends[part - 1] if part else 0 : edge_ends[part]]
        parts.append((members, _remembered(key, np.ascontiguousarray(own), len(members), build)))
    return parts


def _remembered(key: Any, edges: np.ndarray, nodes: int, build: Build) -> Any:
    content = (key, nodes, blake2b(edges.tobytes(), digest_size=16).digest())
    if content not in _known:
        _known[content] = build(edges, nodes)
        if len(_known) > _MOST:
            _known.popitem(last=False)
    _known.move_to_end(content)
    return _known[content]
