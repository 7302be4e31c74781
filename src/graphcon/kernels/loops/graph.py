"""From a list of edges to CSR and its transpose, by counting."""

import numpy as np

from graphcon.kernels.loops._jit import jit


@jit
def fingerprint(values):
    """64 bits that tell one array of whole numbers from another."""
    total = np.uint64(values.shape[0])
    for n in range(values.shape[0]):
        h = np.uint64(values[n]) + np.uint64(n + 1) * np.uint64(0x9E3779B97F4A7C15)
        h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        total += h ^ (h >> np.uint64(31))
    return total


@jit
def sort_by_target(source, target, loops, ptr, col, row, edge):
    """Sorts edges by target, in a row as they came; with `loops` every node has exactly one, at the end of its row.

    ``edge`` tells which edge a slot holds: its number, the number of edges for a loop that was added, and one more
    for a slot that is not used.
    """
    nodes, edges = ptr.shape[0] - 1, source.shape[0]
    ptr[:] = 0
    for e in range(edges):
        if not loops or source[e] != target[e]:
            ptr[target[e] + 1] += 1
    for i in range(nodes):
        ptr[i + 1] += ptr[i] + (1 if loops else 0)
    place = ptr[:-1].copy()
    if loops:
        for i in range(nodes):
            last = ptr[i + 1] - 1
            col[last], row[last], edge[last] = i, i, edges
    for e in range(edges):
        i, j = target[e], source[e]
        if loops and i == j:
            edge[ptr[i + 1] - 1] = e  # of several loops the last counts
        else:
            slot = place[i]
            col[slot], row[slot], edge[slot] = j, i, e
            place[i] += 1
    for slot in range(ptr[nodes], col.shape[0]):
        col[slot], row[slot], edge[slot] = 0, 0, edges + 1


@jit
def transpose(ptr, col, tptr, trow, tslot):
    """The same matrix by columns: the row and the slot of each entry."""
    nodes = ptr.shape[0] - 1
    tptr[:] = 0
    for e in range(ptr[nodes]):
        tptr[col[e] + 1] += 1
    for j in range(nodes):
        tptr[j + 1] += tptr[j]
    place = tptr[:-1].copy()
    for i in range(nodes):
        for e in range(ptr[i], ptr[i + 1]):
            q = place[col[e]]
            trow[q], tslot[q] = i, e
            place[col[e]] += 1
    for q in range(ptr[nodes], trow.shape[0]):
        trow[q], tslot[q] = 0, 0
