"""A network for a task: built from a recipe and the shape of the data, answering in the target's own units."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import Module

from graphcon.errors import InputError
from graphcon.models import GraphCONNet, GraphNet, InputEncoder, StackNet
from graphcon.training.config import ModelConfig
from graphcon.training.spec import TaskSpec

PREFIX = "graphcon-"
ALIASES = {"tran": "transformer"}
_WITH_HEADS = ("gat", "transformer", "GATConv", "GATv2Conv", "TransformerConv")


class TaskModel(Module):
    r"""A network with its answers in the target's own units, :math:`\mathrm{mean} + \mathrm{std} \cdot \mathrm{net}`.

    Args:
        net (torch.nn.Module): The network.
        spec (TaskSpec): The task; without mean and std answers are left as they are.
    """

    def __init__(self, net: GraphNet, spec: TaskSpec):
        super().__init__()
        self.net = net
        self.register_buffer("mean", torch.tensor(spec.mean) if spec.mean else None)
        self.register_buffer("std", torch.tensor(spec.std) if spec.std else None)

    def forward(
        self,
        x: Tensor | None,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        edge_attr: Tensor | None = None,
        batch: Tensor | None = None,
        batch_size: int | None = None,
        x_categories: Tensor | None = None,
    ) -> Tensor:
        """Answers per node or graph: scores of classes or labels, or values in their own units."""
        if x is not None and not x.is_floating_point():  # PyG's way to say that x holds categories
            x, x_categories = None, x
        net = self.net
        edge_weight = edge_weight if net.supports_edge_weight else None
        edge_attr = edge_attr if net.edge_encoder is not None else None
        out = net(x, edge_index, edge_weight, edge_attr, batch, batch_size, x_categories)
        return out if self.mean is None else self.mean + self.std * out


def build(config: ModelConfig, spec: TaskSpec) -> TaskModel:
    """The network that a recipe asks for, as wide as the data.

    Raises:
        InputError: There is no such network, or an option does not fit it.
    """
    oscillates = config.name.startswith(PREFIX)
    coupling = config.name.removeprefix(PREFIX)
    coupling = ALIASES.get(coupling, coupling)
    options: dict[str, Any] = {
        "task": spec.task,
        "readout": config.readout,
        "input_dropout": config.input_dropout,
        "output_dropout": config.output_dropout,
        "num_categories": spec.num_categories,
        "shared": oscillates if config.shared is None else config.shared,
    }
    if config.heads is not None:
        if coupling not in _WITH_HEADS:
            raise InputError(f"model.heads = {config.heads}, but {config.name} has no heads: leave it out")
        options["heads"] = config.heads
    if config.edge_features:
        options |= _edge_options(config, spec)
    if oscillates:
        options |= {
            name: getattr(config, name)
            for name in ("dt", "alpha", "gamma", "integrator", "memory", "trainable", "residual")
        }
    sizes = (spec.num_features, config.channels, config.steps, spec.num_outputs, config.dropout, config.act)
    network = GraphCONNet if oscillates else StackNet
    try:
        return TaskModel(network(*sizes, coupling=coupling, **options), spec)
    except (ValueError, TypeError, ImportError) as error:
        raise InputError(f"model.name = {config.name!r}: {error}") from error


def _edge_options(config: ModelConfig, spec: TaskSpec) -> dict[str, Any]:
    if not spec.edge_dim and not spec.num_edge_categories:
        raise InputError("model.edge_features = true, but these data have no edge features: leave it out")
    encoder = InputEncoder(spec.edge_dim, config.channels, spec.num_edge_categories)
    return {"edge_encoder": encoder, "edge_dim": config.channels}
