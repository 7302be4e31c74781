"""Recipes: everything a training run depends on, as one tree of frozen dataclasses.

A recipe is a TOML file whose tables are the fields of `Recipe`; every field is an option of the command line. What a
file does not say has the default below. Nothing here imports PyTorch.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from graphcon._ranges import AT_LEAST_1, BELOW_1, NOT_NEGATIVE, POSITIVE, Range
from graphcon.data._options import TableOptions

Metric = Literal["accuracy", "f1", "auroc", "average_precision", "log_loss", "mae", "rmse", "r2"]
Loss = Literal["cross_entropy", "binary_cross_entropy", "l1", "l2", "huber"]


def _also(*names: str) -> Any:
    """Lets an option be given without its table: ``--nodes`` for ``--data.nodes``."""
    return tyro.conf.arg(aliases=names)


@dataclass(frozen=True)
class DataConfig:
    """Which data, and which part of them is for what.

    Attributes:
        name: A named set (see: graphcon data), or a .npz or .graphml file.
        protocol: How to split it; by default its first protocol.
        split: Which of the fixed splits, or the seed of a random one.
        root: Folder to look for named sets in first, then $GRAPHCON_DATA, ~/.cache/graphcon.
        normalize: Divide the numbers of every node by their sum, as is usual for word counts.
        batch_size: Graphs per batch, if there are many graphs; with vr-gcn, training nodes per batch.
        limit: Use at most this many graphs of every part, if there are many graphs; by default all.
        batching: How to train one large graph: whole, cluster-gcn (groups of its clusters) or vr-gcn (a plain gcn that
            draws a few neighbours and corrects by remembered activations). Metrics always see the whole graph.
        clusters: How many clusters cluster-gcn divides the graph into.
        clusters_per_batch: How many clusters make a batch.
        neighbors: How many neighbours a node draws in every layer, with vr-gcn.
        workers: Processes that prepare batches.
        nodes: Your table of nodes, CSV or Parquet, instead of a named set.
        edges: Your table of edges.
        graphs: Your table of graphs, if the target is per graph.
        table: How your tables are read. Each of these options also has a short name: --target for the first.
    """

    name: Annotated[str | None, _also("--data")] = None
    protocol: str | None = None
    split: Annotated[int, NOT_NEGATIVE] = 0
    root: Annotated[Path | None, _also("--data-root")] = None
    normalize: bool = False
    batch_size: Annotated[int, AT_LEAST_1] = 128
    limit: Annotated[int | None, AT_LEAST_1] = None
    batching: Literal["whole", "cluster-gcn", "vr-gcn"] = "whole"
    clusters: Annotated[int, AT_LEAST_1] = 50
    clusters_per_batch: Annotated[int, AT_LEAST_1] = 5
    neighbors: Annotated[int, AT_LEAST_1] = 2
    workers: Annotated[int, NOT_NEGATIVE] = 0
    nodes: Annotated[Path | None, _also("--nodes")] = None
    edges: Annotated[Path | None, _also("--edges")] = None
    graphs: Annotated[Path | None, _also("--graphs")] = None
    table: TableOptions = field(default_factory=TableOptions)


@dataclass(frozen=True)
class ModelConfig:
    """The network.

    Attributes:
        name: A model such as graphcon-gcn or gcnii (see: graphcon models); or the class name of a PyG layer for a plain
            network of it, with graphcon- before it for the oscillator.
        channels: Width of the state.
        steps: Number of steps or layers.
        dt: The time step.
        alpha: The damping.
        gamma: The squared frequency.
        act: The activation; identity for none.
        act_on: Where else to apply the activation: to the first state, to the last, or to none.
        dropout: Dropout on the force; also the default of input_dropout and output_dropout.
        input_dropout: Dropout on the input.
        output_dropout: Dropout before the decoder.
        integrator: How to step: imex, strang or adaptive.
        memory: How the backward pass gets the states: store, checkpoint or auto.
        trainable: Learn alpha and gamma.
        shared: Whether all steps share one layer; by default oscillators do and plain networks do not.
        residual: Add a linear map of the state inside the activation.
        source: Add a multiple of the first state inside the activation; the factor is learned, starting here.
        start: How weights start: random, as the layer does, or wave, as the graph's wave equation (gcn, gat).
        readout: How a graph's nodes become one vector: sum, mean or max.
        heads: Attention heads, for couplings that have them.
        edge_features: Use edge features, in couplings that take them.
        options: The model's own options, named as in its paper: --model.options.KEY VALUE.
    """

    name: str = "graphcon-gcn"
    channels: Annotated[int, AT_LEAST_1] = 64
    steps: Annotated[int, AT_LEAST_1] = 16
    dt: Annotated[float, POSITIVE] = 0.5
    alpha: Annotated[float, NOT_NEGATIVE] = 0.5
    gamma: Annotated[float, NOT_NEGATIVE] = 1.0
    act: str = "relu"
    act_on: Literal["first", "last", "none"] = "first"
    dropout: Annotated[float, BELOW_1] = 0.0
    input_dropout: Annotated[float | None, BELOW_1] = None
    output_dropout: Annotated[float | None, BELOW_1] = None
    integrator: Literal["imex", "strang", "adaptive"] = "imex"
    memory: Literal["auto", "store", "checkpoint"] = "auto"
    trainable: bool = False
    shared: bool | None = None
    residual: bool = False
    source: Annotated[float | None, NOT_NEGATIVE] = None
    start: Literal["random", "wave"] = "random"
    readout: Literal["sum", "mean", "max"] = "mean"
    heads: Annotated[int | None, AT_LEAST_1] = None
    edge_features: bool = False
    options: Annotated[dict[str, Any], tyro.conf.Suppress] = field(default_factory=dict)


@dataclass(frozen=True)
class OptimizerConfig:
    """How the weights are optimised.

    Attributes:
        name: The optimiser.
        lr: The learning rate.
        weight_decay: Weight decay.
        core_weight_decay: Decay of the weights between encoder and decoder; by default weight_decay.
        momentum: Momentum, for sgd.
        clip: Largest norm of the gradient; by default no limit.
    """

    name: Literal["adam", "adamw", "adamax", "sgd"] = "adam"
    lr: Annotated[float, Range(0, 1e6, open=True)] = 0.01
    weight_decay: Annotated[float, NOT_NEGATIVE] = 0.0
    core_weight_decay: Annotated[float | None, NOT_NEGATIVE] = None
    momentum: Annotated[float, BELOW_1] = 0.9
    clip: Annotated[float | None, POSITIVE] = None


@dataclass(frozen=True)
class ScheduleConfig:
    """How the learning rate changes.

    Attributes:
        name: none, cosine (down to min_lr), one-cycle (up to lr, then down to almost nothing) or plateau (times factor
            when validation has not improved for patience epochs).
        warmup: Share of the epochs in which one-cycle rises.
        min_lr: The smallest learning rate; training stops when plateau reaches it.
        factor: What plateau multiplies the learning rate by.
        patience: Epochs that plateau waits.
    """

    name: Literal["none", "cosine", "one-cycle", "plateau"] = "none"
    warmup: Annotated[float, BELOW_1] = 0.3
    min_lr: Annotated[float, NOT_NEGATIVE] = 1e-6
    factor: Annotated[float, Range(0, 1, open=True)] = 0.5
    patience: Annotated[int, NOT_NEGATIVE] = 20


@dataclass(frozen=True)
class TrainerConfig:
    """How long to train, on what hardware, and how the best epoch is selected.

    Attributes:
        epochs: The most epochs to train for.
        patience: Stop after this many epochs without improvement on validation; 0 for never.
        validate_every: Epochs between validations; by default 5 for one graph trained whole, 1 for batches.
        metric: The metric that selects the epoch on validation; by default accuracy, f1 or mae, by kind of target.
        loss: The loss to minimise; by default that of the kind of target.
        class_weights: Weight classes by the inverse of their share of the training part, so rare ones count more.
        precision: Number format: 32-true, bf16-mixed or 16-mixed.
        accelerator: Where to compute: cpu, cuda, mps or auto.
        devices: How many devices or processes to train on.
        threads: Threads per process; by default as many as there are processors.
        checkpoint_seconds: The most seconds of work that a sudden stop may lose, besides the running batch.
        tensorboard: Write a log for TensorBoard.
    """

    epochs: Annotated[int, AT_LEAST_1] = 200
    patience: Annotated[int, NOT_NEGATIVE] = 50
    validate_every: Annotated[int | None, AT_LEAST_1] = None
    metric: Metric | None = None
    loss: Loss | None = None
    class_weights: bool = False
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    accelerator: Literal["cpu", "cuda", "mps", "auto"] = "cpu"
    devices: Annotated[int, AT_LEAST_1, _also("--devices")] = 1
    threads: Annotated[int | None, AT_LEAST_1] = None
    checkpoint_seconds: Annotated[float, NOT_NEGATIVE] = 10.0
    tensorboard: Annotated[bool, _also("--tensorboard")] = False


@dataclass(frozen=True)
class Recipe:
    """A training run.

    Attributes:
        data: Which data.
        model: The network.
        optimizer: How the weights are optimised.
        schedule: How the learning rate changes.
        trainer: How long to train, on what hardware, and how the best epoch is selected.
        seed: Seed of the weights, the batches and the dropout.
        search: What graphcon tune searches: a table per field, of choices or of a range.
    """

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    seed: int = 0
    search: Annotated[dict[str, Any], tyro.conf.Suppress] = field(default_factory=dict)
