"""All measures of every state of a model, as a table."""

import inspect
import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import polars as pl
import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.data import Data

from graphcon._calling import arguments, inside
from graphcon.diagnostics._per_graph import check_features, in_single_precision
from graphcon.diagnostics.distance import mean_average_distance
from graphcon.diagnostics.energy import dirichlet_energy
from graphcon.diagnostics.gradient_norms import gradient_norms
from graphcon.diagnostics.rank import both_ranks
from graphcon.diagnostics.watching import check_rows, evaluating, watched


def measure_state(x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> dict[str, float]:
    """All measures of one state, each the mean over the graphs of a batch.

    Args:
        x (torch.Tensor): Node features, ``[nodes, channels]``.
        edge_index (torch.Tensor): The edges, ``[2, edges]``.
        batch (torch.Tensor, optional): The graph of every node, ``[nodes]``. (default: one graph)
    """
    check_features(x)
    effective, numerical = both_ranks(x, batch)
    x = in_single_precision(x)
    # Squares of 1e-25 or of 1e25 are zero or infinite in single precision, so they are taken of a state of size 1.
    largest = float(x.abs().max()) if x.numel() else 0.0
    scale = largest if 0.0 < largest < math.inf else 1.0
    unit = x / scale
    of_the_state = {
        "energy": scale * scale * _mean(dirichlet_energy(unit, edge_index, batch)),
        "energy_by_degree": scale * scale * _mean(dirichlet_energy(unit, edge_index, batch, by_degree=True)),
    }
    of_its_form = {
        "energy_relative": dirichlet_energy(x, edge_index, batch, relative=True),
        "energy_relative_by_degree": dirichlet_energy(x, edge_index, batch, by_degree=True, relative=True),
        "mad": mean_average_distance(x, edge_index, batch),
        "effective_rank": effective,
        "rank": numerical,
    }
    size = scale * _mean(unit.square().mean().sqrt())
    return of_the_state | {name: _mean(value) for name, value in of_its_form.items()} | {"size": size}


def _mean(per_graph: Tensor) -> float:
    return float(per_graph.mean())


def state_table(states: Iterable[Tensor], edge_index: Tensor, batch: Tensor | None = None) -> pl.DataFrame:
    """All measures of states as they come: a row per state, of which only one is held at a time.

    Args:
        states (Iterable): The states, ``[nodes, channels]`` each; also a stacked trajectory.
        edge_index (torch.Tensor): The edges, ``[2, edges]``.
        batch (torch.Tensor, optional): The graph of every node, ``[nodes]``. (default: one graph)

    Returns:
        The columns step, energy, energy_by_degree, energy_relative, energy_relative_by_degree, mad (among neighbours),
        effective_rank, rank and size (the root of the mean square of all features).
    """
    return pl.DataFrame([{"step": n} | measure_state(x, edge_index, batch) for n, x in enumerate(states)])


@torch.no_grad()
def trajectory_table(model: Module, data: Data, loss: Callable[[Tensor], Tensor] | None = None) -> pl.DataFrame:
    """All measures of every state of any model: of PyG, of this package or of one's own.

    The states are those a `GraphCON` or another core tells of itself; in every other model what its message-passing
    layers are given, and at the end what the last one returns. They are measured as they come, so that depth costs no
    memory. The model is in evaluation mode meanwhile.

    Args:
        model (torch.nn.Module): The model.
        data (torch_geometric.data.Data): A graph or a batch, handed over as the model's forward names it.
        loss (Callable, optional): A loss as a function of what the model returns. With it the table has the columns
            ``state_gradient`` and ``weight_gradient``, see :func:`gradient_norms`. (default: :obj:`None`)

    Returns:
        A row per state, with the columns of :func:`state_table`.

    Example::

        table = trajectory_table(torch_geometric.nn.models.GCN(16, 64, 32, 7), data)
    """
    model, rows = inside(model), list[dict[str, Any]]()
    edge_index, batch, nodes = data.edge_index, data.get("batch"), data.num_nodes
    if edge_index is None or nodes is None:
        raise ValueError(f"data={data} has no edge_index: the measures compare neighbours, so it must have the edges")
    if data.x is None and data.get("x_categories") is None and "x" in inspect.signature(model.forward).parameters:
        raise ValueError(f"data={data} has no x: give the nodes features, e.g. data.x = torch.ones(data.num_nodes, 1)")

    def see(state: Tensor) -> None:
        rows.append({"step": len(rows)} | measure_state(check_rows(state, nodes), edge_index, batch))

    with evaluating(model), watched(model, see):
        model(**arguments(model, data))
    table = pl.DataFrame(rows)
    if loss is None:
        return table
    norms = gradient_norms(model, data, loss)
    states, weights = norms.states.tolist(), [None, *norms.weights.tolist()]
    if len(states) != len(table):
        warnings.warn(
            f"the model tells {len(table)} states, but its layers are called {len(norms.weights)} times: gradients per "
            "step need a method `states` that yields the states, and are left out",
            stacklevel=2,
        )
        states = weights = [None] * len(table)
    return table.with_columns(
        pl.Series("state_gradient", states, dtype=pl.Float64), pl.Series("weight_gradient", weights, dtype=pl.Float64)
    )
