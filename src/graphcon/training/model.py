"""A network for a task: built from a recipe and the shape of the data, answering in the target's own units."""

import dataclasses
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import Module

from graphcon._words import did_you_mean
from graphcon.couplings import REQUIRED
from graphcon.errors import InputError
from graphcon.models import GraphNet, InputEncoder, ModelCard, find
from graphcon.models.registry import OSCILLATOR_FIELDS
from graphcon.training import recipes
from graphcon.training.config import ModelConfig
from graphcon.training.spec import TaskSpec

# What not every network has: the oscillator's own settings, and what only some couplings and rivals know.
_SPECIAL = (*OSCILLATOR_FIELDS, "heads")
_DEFAULTS = {field.name: field.default for field in dataclasses.fields(ModelConfig)}


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
        pos: Tensor | None = None,
    ) -> Tensor:
        """Answers per node or graph: scores of classes or labels, or values in their own units."""
        net = self.net
        edge_weight = edge_weight if net.supports_edge_weight else None
        edge_attr = edge_attr if net.edge_encoder is not None else None
        out = net(x, edge_index, edge_weight, edge_attr, batch, batch_size, x_categories, pos)
        return self.in_units(out)

    def in_units(self, out: Tensor) -> Tensor:
        """What the network answers, in the target's own units."""
        if self.mean is None:
            return out
        return cast(Tensor, self.mean) + cast(Tensor, self.std) * out


def build(config: ModelConfig, spec: TaskSpec) -> TaskModel:
    """The network that a recipe asks for, as wide as the data.

    Raises:
        InputError: There is no such network, or an option does not fit it.
    """
    card = named(config.name)
    if spec.task not in card.tasks:
        raise InputError(f"model.name = {config.name!r}: is for {card.tasks[0]}s, but the target is a {spec.task}'s")
    options: dict[str, Any] = {
        "task": spec.task,
        "readout": config.readout,
        "input_dropout": config.input_dropout,
        "output_dropout": config.output_dropout,
        "num_categories": spec.num_categories,
    }
    options |= _fields(config, card) | _own_options(config, card)
    if config.edge_features:
        options |= _edge_options(config, spec, card)
    sizes = (spec.num_features, config.channels, config.steps, spec.num_outputs, config.dropout, config.act)
    try:
        return TaskModel(card.build(*sizes, **options), spec)
    except (ValueError, TypeError, ImportError) as error:
        raise InputError(f"model.name = {config.name!r}: {error}") from error


def named(model: str) -> ModelCard:
    """The card of a model.

    Raises:
        InputError: There is no such model.
    """
    try:
        return find(model)
    except ValueError as error:
        raise InputError(f"model.name: {error}") from None


def for_model(config: ModelConfig, name: str) -> ModelConfig:
    """The same network settings for another model, without what that one has no use for."""
    card = find(name)
    unused = {field: _DEFAULTS[field] for field in _SPECIAL if field not in card.fields}
    options = config.options if name == config.name else {}
    return dataclasses.replace(config, name=name, options=options, **unused)


def _fields(config: ModelConfig, card: ModelCard) -> dict[str, Any]:
    """The fields of the recipe that this model uses; one that is set for a model without it is refused."""
    for field in _SPECIAL:
        value = getattr(config, field)
        if field not in card.fields and value != _DEFAULTS[field]:
            own = f"; its own option of that name is model.options.{field}" if field in card.options else ""
            raise InputError(f"model.{field} = {value!r}, but {config.name} has no {field}: leave it out{own}")
    return {field: value for field in card.fields if (value := getattr(config, field)) is not None}


def _own_options(config: ModelConfig, card: ModelCard) -> dict[str, Any]:
    """The options of [model.options], of the types that the model says; a PyG layer checks its own values."""
    where = f"model.name = {config.name!r}"
    takes = card.own_options
    for name in config.options:
        if name in card.fields:
            raise InputError(f"model.options.{name}: is given as model.{name}")
        if name not in takes:
            told = ", ".join(f"{key} ({option})" for key, option in takes.items()) or "none"
            hint = did_you_mean(name, takes)
            raise InputError(f"{where}: there is no model.options.{name}.{hint} Its options, by default: {told}")
    for name, option in takes.items():
        if option.default is REQUIRED and name not in config.options:
            raise InputError(f"{where}: model.options.{name} is missing, which has no default")
    return {
        name: recipes.convert(takes[name].kind, value, where, ("model", "options", name))
        for name, value in config.options.items()
    }


def _edge_options(config: ModelConfig, spec: TaskSpec, card: ModelCard) -> dict[str, Any]:
    if not spec.edge_dim and not spec.num_edge_categories:
        raise InputError("model.edge_features = true, but these data have no edge features: leave it out")
    if "edge_dim" not in card.options:
        raise InputError(f"model.edge_features = true, but {config.name} takes no edge features: leave it out")
    encoder = InputEncoder(spec.edge_dim, config.channels, spec.num_edge_categories)
    return {"edge_encoder": encoder, "edge_dim": config.channels}
