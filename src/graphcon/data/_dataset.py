"""What every source of data ends in: graphs, the task on them, and a split."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import overload

from torch import Tensor
from torch_geometric.data import Data

from graphcon._words import counted
from graphcon.data._kinds import Kind, Part, Task
from graphcon.data._split import Split
from graphcon.errors import InputError


@dataclass(frozen=True, eq=False)
class GraphDataset:
    """Graphs with a task: what training and prediction consume, whatever it was made from.

    Three shapes, told by ``task`` and ``split.unit``:

    - ``task="node"``, ``split.unit="node"``: one graph, parts of its nodes (Cora).
    - ``task="node"``, ``split.unit="graph"``: many graphs with a target per node, whole graphs to a part
      (PPI).
    - ``task="graph"``, ``split.unit="graph"``: many graphs with one target each (ZINC).

    ``y`` holds class indices [nodes or 1], labels [nodes or 1, outputs] as floating-point zeros and ones, or
    values [nodes or 1] or, where there are several, [nodes or 1, outputs]. A node without a target has -1, or
    NaN: it belongs to the graph, and to no part of the split.

    Args:
        name: The name of the set, or of the file it was read from.
        graphs: The graphs; a list, or anything that makes them one by one.
        task: Whether nodes or graphs have a target.
        kind: ``classification`` (``y`` holds class indices), ``multilabel`` (``y`` holds zeros and ones per
            output) or ``regression`` (``y`` holds numbers).
        num_outputs: Number of classes, of labels or of values.
        num_features: Width of the floating-point input, 0 where there is none.
        num_categories: Sizes of the categorical input columns, see :meth:`inputs`.
        edge_dim: Width of the floating-point ``edge_attr``, 0 where there is none.
        num_edge_categories: Sizes of the categorical columns of an integral ``edge_attr``.
        split: The split in use.
        splitter: Draws the split of another seed; None where there is only one.
        class_names: Names of the classes or labels.
        target_names: Names of the values of a regression.
        feature_names: Names of the input columns, numbers first, where they are known.
        directed: Whether edges have a direction.
        notes: What a user should know about these data, a sentence each.
    """

    name: str
    graphs: Sequence[Data]
    task: Task
    kind: Kind
    num_outputs: int
    num_features: int
    split: Split
    splitter: Callable[[int], Split] | None = None
    num_categories: tuple[int, ...] = ()
    edge_dim: int = 0
    num_edge_categories: tuple[int, ...] = ()
    class_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    directed: bool = False
    notes: tuple[str, ...] = ()

    @property
    def data(self) -> Data:
        """The graph, where there is one."""
        if len(self.graphs) != 1:
            raise InputError(f"{self.name} holds {len(self.graphs)} graphs, not one: use .graphs or .part(...).")
        return self.graphs[0]

    def with_split(self, seed: int) -> "GraphDataset":
        """The same graphs with the split of that seed."""
        if self.splitter is None:
            raise InputError(
                f"{self.name} is read with one split, '{self.split.name}', and what was learned from it. "
                "Where a seed chooses the split, load or read it again with another seed."
            )
        return replace(self, split=self.splitter(seed))

    def part(self, part: Part) -> "GraphView":
        """The graphs of a part, where whole graphs are split."""
        if self.split.unit != "graph":
            raise InputError(f"{self.name} splits the nodes of one graph: use .split.mask('{part}').")
        return GraphView(self.graphs, getattr(self.split, part).tolist())

    def inputs(self, data: Data) -> tuple[Tensor | None, Tensor | None]:
        """The numbers [nodes, num_features] and the category indices [nodes, len(num_categories)] of a graph.

        By PyG's convention an integral ``x`` holds category indices (ZINC's atom types); where a table has
        both, ``x`` holds the numbers and ``x_categories`` the indices. A model embeds each column of the
        second with a table of ``num_categories[column]`` rows, and adds that to what it makes of the first.
        """
        if not self.num_categories:
            return data.x, None
        if data.x is not None and not data.x.is_floating_point():
            return None, data.x
        return data.x, data.x_categories

    def __repr__(self) -> str:
        """The name, the number of graphs, the task and the split."""
        return f"GraphDataset({self.name}, {counted(len(self.graphs), 'graph')}, {self.task} {self.kind}, {self.split})"


def has_target(targets: Tensor) -> Tensor:
    """Which rows have a target: a class of -1 or a value that is no number says that there is none."""
    missing = targets.isnan() if targets.is_floating_point() else targets < 0
    return ~(missing if missing.dim() == 1 else missing.any(1))


class GraphView(Sequence[Data]):
    """Some of a set's graphs, made when they are asked for; PyG's ``DataLoader`` takes it.

    Args:
        graphs: All graphs.
        places: Which of them, in order.
    """

    def __init__(self, graphs: Sequence[Data], places: Sequence[int]):
        self.graphs, self.places = graphs, places

    def __len__(self) -> int:
        """How many graphs there are."""
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Data: ...
    @overload
    def __getitem__(self, place: slice) -> "GraphView": ...
    def __getitem__(self, place: int | slice) -> "Data | GraphView":
        """The graph at a place, or those of a slice."""
        chosen = self.places[place]
        return self.graphs[chosen] if isinstance(chosen, int) else GraphView(self.graphs, chosen)
