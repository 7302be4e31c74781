"""What a model relies on: how its metric changes when an input is shuffled among the nodes, or the edges are gone."""

import copy
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from graphcon._words import shown
from graphcon.data import TableSchema
from graphcon.report.blocks import Block, Number, Table, Words
from graphcon.report.evidence import Evidence
from graphcon.training import metrics as measures
from graphcon.training.batches import apply
from graphcon.training.run import PARTS
from graphcon.training.spec import has_target

SHUFFLES = 3
#: With as many answers that count, one shuffle says what three do.
ENOUGH_ANSWERS = 10_000
#: Of many columns the page would be a list, and each costs as many passes as there are shuffles.
MOST_COLUMNS = 40
MOST_NODES = 100_000

#: The graph with one input changed by random numbers, for as long as it is looked at.
Change = Callable[[Data, torch.Generator], AbstractContextManager[Data]]
_NOTE = (
    "Each column is shuffled among the nodes, {shuffles}; nothing is trained anew. What "
    "changes little is of little use to this model. Columns that say the same can stand in for each other: shuffled "
    "one by one, none of them may seem to matter."
)


def reliance(run: Evidence, tell: Callable[[str], None] = lambda _: None) -> list[Block]:
    """What the metric on validation data comes to without each input; on test data where there are no others.

    Args:
        run: The run.
        tell: Is told what is looked at, for each input costs passes through the model.
    """
    part = "val" if len(run.dataset.split.val) else run.part
    if part is None:
        return [Words(("No part was held out, so there is nothing to measure on.",))]
    data, counts = _held_out(run, part)
    whole = _value(run, data, counts)
    inputs, changed = list(_inputs(run, data)), {}
    shuffles = SHUFFLES if len(counts) < ENOUGH_ANSWERS else 1
    for place, (name, change) in enumerate(inputs):
        tell(f"what {run.name} relies on: {name} ({place + 1} of {len(inputs)})")
        changed[name] = _changed(run, data, counts, change, shuffles)
    smaller = run.metric in measures.SMALLER_IS_BETTER
    worst = sorted(changed.items(), key=lambda one: one[1], reverse=smaller)
    rows = [
        [name, Number(value), Number(value - whole, f"{'' if value < whole else '+'}{shown(value - whole)}")]
        for name, value in worst
    ]
    return [
        Table(
            f"What {run.metric} on {PARTS[part]} data comes to without an input; with all it is {shown(whole)}",
            ("without", run.metric, "change"),
            rows,
            _NOTE.format(shuffles="once" if shuffles == 1 else f"{shuffles} times, and the mean is told"),
        )
    ]


def _inputs(run: Evidence, data: Data) -> Iterator[tuple[str, Change]]:
    """The inputs by their names, with what takes away what they say."""
    yield "edges, taken away", _drop_edges
    if "x" in data or "x_categories" in data:
        yield "features of the nodes, all together", _shuffle(("x", None), ("x_categories", None))
    schema = run.trained.schema
    if schema is not None and len(schema.columns) <= MOST_COLUMNS:
        yield from ((f"column {name}", _shuffle(where)) for name, where in columns_of(schema))
    if "edge_weight" in data:
        yield "weights of the edges", _shuffle(("edge_weight", None))
    if run.trained.recipe.model.edge_features:
        yield "features of the edges", _shuffle(("edge_attr", None))


def columns_of(schema: TableSchema) -> Iterator[tuple[str, tuple[str, slice]]]:
    """Where the columns of the node table stand: numbers in ``x``, long lists of categories in ``x_categories``."""
    start, category = 0, 0
    for column in schema.columns:
        if column.role == "index":
            yield column.name, ("x_categories", slice(category, category + 1))
            category += 1
        else:
            yield column.name, ("x", slice(start, start + column.width))
            start += column.width


def _shuffle(*places: tuple[str, slice | None]) -> Change:
    @contextmanager
    def change(data: Data, generator: torch.Generator) -> Iterator[Data]:
        other, order, held = copy.copy(data), None, []
        for name, columns in places:
            values = cast(Tensor | None, data.get(name))
            if values is None:
                continue
            order = torch.randperm(len(values), generator=generator) if order is None else order
            if columns is None:
                other[name] = values[order]
            else:  # in place, and put back: of a large table there is no room for a second
                cells = values[:, columns]
                held.append((cells, cells.clone()))
                cells.copy_(cells[order])
        try:
            yield other
        finally:
            for cells, before in held:
                cells.copy_(before)

    return change


@contextmanager
def _drop_edges(data: Data, generator: torch.Generator) -> Iterator[Data]:
    other = copy.copy(data)
    for name in ("edge_index", "edge_weight", "edge_attr"):
        values = cast(Tensor | None, data.get(name))
        if values is not None:
            other[name] = values[:, :0] if name == "edge_index" else values[:0]
    yield other


def _held_out(run: Evidence, part: Any) -> tuple[Data, Tensor]:
    """The graph, or graphs of the part as one, and which of the answers count."""
    dataset = run.dataset
    if dataset.split.unit == "node":
        return dataset.data, getattr(dataset.split, part)
    graphs, nodes, view = [], 0, dataset.part(part)
    while len(graphs) < len(view) and nodes < MOST_NODES:
        graphs.append(view[len(graphs)])
        nodes += cast(int, graphs[-1].num_nodes)
    data = cast(Data, Batch.from_data_list(graphs))
    return data, has_target(cast(Tensor, data.y)).nonzero().flatten()


def _changed(run: Evidence, data: Data, counts: Tensor, change: Change, shuffles: int) -> float:
    """The mean of some shuffles."""
    generator, values = torch.Generator().manual_seed(0), []
    for _ in range(1 if change is _drop_edges else shuffles):
        with change(data, generator) as other:
            values.append(_value(run, other, counts))
    return sum(values) / len(values)


@torch.no_grad()
def _value(run: Evidence, data: Data, counts: Tensor) -> float:
    spec, y = run.trained.spec, cast(Tensor, data.y)
    metric = measures.build_quick(spec, run.metric)
    measures.update(metric, spec, apply(run.trained.model, data)[counts], y[counts])
    return float(metric.compute()[run.metric])
