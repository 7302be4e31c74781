"""VR-GCN: a GCN trained on few neighbours of few nodes, corrected by the activations of the past."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from graphcon._calling import evaluating
from graphcon.errors import InputError
from graphcon.models import Stack
from graphcon.training.batches import generator, mix, unwrapped
from graphcon.training.model import TaskModel


class HistoryBatches:
    r"""The batches of `"Stochastic Training of GCNs with Variance Reduction" <https://arxiv.org/abs/1710.10568>`_.

    A layer of a GCN sees :math:`P H`, which needs all neighbours of all neighbours. With activations :math:`\bar H`
    kept from the last time that a node was computed, the estimate

    .. math::
        P H \approx \hat P\,(H - \bar H) + P \bar H

    needs fresh activations of the few neighbours that :math:`\hat P` draws, and its variance vanishes as the history
    becomes exact. A node always draws itself. The history begins with one exact pass.

    Args:
        data: The graph.
        train: The nodes that count in training.
        batch_size: How many of them make a batch.
        neighbors: Neighbours that every node draws, per layer.
        seed: Seed of the batches and of the draws.
    """

    def __init__(self, data: Data, train: Tensor, batch_size: int, neighbors: int, seed: int):
        self.data, self.train, self.batch_size, self.neighbors, self.seed = data, train, batch_size, neighbors, seed
        self.kept: Tensor | None = None  # [layers, nodes, channels]
        self.around: Neighbours | None = None

    def __len__(self) -> int:
        """Batches of an epoch."""
        return -(-len(self.train) // self.batch_size)

    def of(self, epoch: int) -> Iterator["HistoryBatch"]:
        """The batches of an epoch."""
        order = torch.randperm(len(self.train), generator=generator(self.seed, epoch)).to(self.train.device)
        for number, nodes in enumerate(self.train[order].split(self.batch_size)):
            yield HistoryBatch(self, nodes, generator(mix(self.seed, epoch), number))

    def state_dict(self) -> dict[str, Tensor]:
        """The activations of the past, which a resumed run needs."""
        return {} if self.kept is None else {"kept": self.kept}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Takes up the activations of the past."""
        self.kept = state["kept"].to(self.train.device) if "kept" in state else None

    def answers(self, model: TaskModel, nodes: Tensor, draw: torch.Generator) -> Tensor:
        """The model's answers for some nodes, by the estimate above; what was computed becomes history."""
        core, convs = _convolutions(model)
        if self.kept is None:
            self.kept = _exact(model, self.data)[:-1]
        around = self._neighbours(convs[0])
        fields, drawn = [nodes], []  # from the last layer back: whom it answers for, and whose states it draws
        for _ in convs:
            drawn.insert(0, around.draw(fields[0], self.neighbors, draw))
            fields.insert(0, torch.unique(torch.cat([fields[0], drawn[0].source])))
        features = (self.data.x, self.data.get("x_categories"))
        x = model.net.start(*(None if part is None else part[fields[0]] for part in features))
        layers = zip(convs, core.norms, self.kept, fields, fields[1:], drawn, strict=False)
        for conv, norm, past, seen, asked, few in layers:
            few = few._replace(source=torch.searchsorted(seen, few.source))
            mixed = few.sums(x - past[seen], len(asked)) + around.of(asked).sums(past, len(asked))
            past[seen] = x.detach()
            x = core.dropout(core.act(norm(conv.lin(mixed) if conv.bias is None else conv.lin(mixed) + conv.bias)))
        return model.in_units(model.net.decode(x))

    def _neighbours(self, conv: GCNConv) -> "Neighbours":
        if self.around is None:
            nodes = cast(int, self.data.num_nodes)
            edges, weight = gcn_norm(  # pyright: ignore[reportGeneralTypeIssues]  # a pair, for a dense edge_index
                cast(Tensor, self.data.edge_index),
                self.data.get("edge_weight"),
                nodes,
                conv.improved,
                conv.add_self_loops,
            )
            self.around = Neighbours(cast(Tensor, edges), cast(Tensor, weight), nodes)
        return self.around


@dataclass(frozen=True)
class HistoryBatch:
    """Some nodes of the graph, answered by the estimate."""

    batches: HistoryBatches
    nodes: Tensor
    draw: torch.Generator

    def run(self, model: Module) -> Tensor:
        """The answers that count."""
        return self.batches.answers(cast(TaskModel, unwrapped(model)), self.nodes, self.draw)

    @property
    def targets(self) -> Tensor:
        """The targets that count."""
        return cast(Tensor, self.batches.data.y)[self.nodes]


class Pairs(NamedTuple):
    """Entries of a matrix: the row, counted among the rows asked for, the column, and the value."""

    row: Tensor
    source: Tensor
    weight: Tensor

    def sums(self, x: Tensor, rows: int) -> Tensor:
        """The product with x, ``[rows, channels]``."""
        return x.new_zeros(rows, x.size(1)).index_add(0, self.row, self.weight.unsqueeze(-1) * x[self.source])


class Neighbours:
    """A sparse matrix by rows, of which all entries or a few at random can be taken.

    Args:
        edge_index: Column and row of every entry, ``[2, edges]``.
        weight: The entries, ``[edges]``.
        nodes: How many rows.
    """

    def __init__(self, edge_index: Tensor, weight: Tensor, nodes: int):
        order = edge_index[1].argsort(stable=True)
        self.source, self.weight = edge_index[0, order], weight[order]
        self.counts = torch.bincount(edge_index[1], minlength=nodes)
        self.starts = self.counts.cumsum(0) - self.counts

    def of(self, rows: Tensor) -> Pairs:
        """All entries of some rows."""
        counts = self.counts[rows]
        row = torch.repeat_interleave(counts)
        first = self.starts[rows] - (counts.cumsum(0) - counts)
        entry = torch.arange(len(row), device=row.device) + first[row]
        return Pairs(row, self.source[entry], self.weight[entry])

    def draw(self, rows: Tensor, count: int, draw: torch.Generator) -> Pairs:
        """So many entries of some rows at random, scaled to keep the mean; the diagonal always and as it is."""
        row, source, weight = self.of(rows)
        diagonal = source == rows[row]
        key = torch.rand(len(row), generator=draw).to(row.device)
        order = torch.where(diagonal, 2.0, key).argsort()
        order = order[row[order].argsort(stable=True)]  # by row, within a row at random, the diagonal last
        row, source, weight, diagonal = row[order], source[order], weight[order], diagonal[order]
        others = torch.zeros_like(rows).index_add(0, row, (~diagonal).long())
        begins = torch.searchsorted(row, torch.arange(len(rows), device=row.device))
        rank = torch.arange(len(row), device=row.device) - begins[row]
        scale = others[row] / others[row].clamp(max=count)
        kept = diagonal | (rank < count)
        return Pairs(row[kept], source[kept], torch.where(diagonal, weight, weight * scale)[kept])


def _convolutions(model: Module) -> tuple[Stack, list[GCNConv]]:
    core = model.net.core if isinstance(model, TaskModel) else None
    if isinstance(core, Stack) and not core.residual:
        layers = [layer for layer in core.layers if type(layer) is GCNConv and layer.normalize]
        if len(layers) == len(core.layers):
            return core, [layers[n if len(layers) > 1 else 0] for n in range(core.steps)]
    raise InputError("data.batching = 'vr-gcn' trains a plain gcn: use model.name = 'gcn', or another batching")


def _exact(model: TaskModel, data: Data) -> Tensor:
    """All states of all nodes, without dropout."""
    with evaluating(model), torch.no_grad():
        start = model.net.start(data.x, data.get("x_categories"))
        weight = {} if data.get("edge_weight") is None else {"edge_weight": data.edge_weight}
        return cast(Stack, model.net.core).trajectory(start, data.edge_index, **weight)
