"""What a model is by name: how it is built, what it takes, where it comes from."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, get_type_hints

from torch import Tensor
from torch.nn import Module

from graphcon.couplings import REQUIRED
from graphcon.models.base import GraphNet

#: Fields of a recipe's [model] table that are handed to every model whose core names them.
GENERAL = ("memory", "shared", "heads")


class Option(NamedTuple):
    """An option of a model: its type, and its default or :obj:`graphcon.couplings.REQUIRED`."""

    kind: Any
    default: Any

    def __str__(self) -> str:
        return "to be given" if self.default is REQUIRED else str(self.default)


@dataclass(frozen=True)
class ModelCard:
    """A model by name.

    Attributes:
        name: What it is called.
        build: Makes the network from ``(in_channels, hidden_channels, num_layers, out_channels, dropout, act)`` and, by
            name, the options of :class:`GraphNet` and its own.
        summary: What it is, in a line.
        paper: Who proposed it, and where to read it.
        tasks: What it is for: an output per node, one per graph.
        options: Its own options.
        fields: The options of a recipe's [model] table that it uses, beside those that every network has.
        exceptions: The conformance checks it does not pass, each with the reason.
    """

    name: str
    build: Callable[..., GraphNet]
    summary: str
    paper: str
    tasks: tuple[str, ...] = ("node", "graph")
    options: Mapping[str, Option] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    exceptions: Mapping[str, str] = field(default_factory=dict)

    @property
    def own_options(self) -> dict[str, Option]:
        """The options that [model.options] is for: those that no field of a recipe stands for."""
        return {key: option for key, option in self.options.items() if key not in (*self.fields, "edge_dim")}


class CoreNet(GraphNet):
    """Encode, a core of one's own, decode.

    Args:
        in_channels (int): Size of each input sample.
        hidden_channels (int): Size of the state.
        num_layers (int): Number of layers or steps.
        out_channels (int, optional): Size of each output sample. (default: :obj:`None`)
        dropout (float, optional): Dropout inside the core, and by default at input and output. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        core (Callable): Makes the core from ``(channels, num_layers, dropout, act)`` and its own options by name. The
            core has ``act`` and ``trajectory(x, edge_index, **kwargs)``. A ``Core`` tells what edge information it
            takes; of another it is told by the forward of its ``layers`` where it has such, otherwise by its own.
        input_dropout (float, optional): Dropout on the input. (default: :obj:`dropout`)
        output_dropout (float, optional): Dropout before the decoder. (default: :obj:`dropout`)
        task, readout, num_categories, edge_encoder, act_on: As in :class:`GraphNet`.
        **kwargs: Options of the core.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        num_layers: int,
        out_channels: int | None = None,
        dropout: float = 0.0,
        act: str | Callable[[Tensor], Tensor] | None = "relu",
        *,
        core: Callable[..., Module],
        input_dropout: float | None = None,
        output_dropout: float | None = None,
        task: str = "node",
        readout: str = "mean",
        num_categories: tuple[int, ...] = (),
        edge_encoder: Module | None = None,
        act_on: str = "first",
        **kwargs: Any,
    ):
        made = core(hidden_channels, num_layers, dropout, act, **kwargs)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            made,
            list(getattr(made, "layers", [made])),
            task=task,
            readout=readout,
            input_dropout=dropout if input_dropout is None else input_dropout,
            output_dropout=dropout if output_dropout is None else output_dropout,
            num_categories=num_categories,
            edge_encoder=edge_encoder,
            act_on=act_on,
        )
        self.num_layers = num_layers


def rival(
    name: str,
    core: Callable[..., Module],
    summary: str,
    paper: str,
    *,
    tasks: tuple[str, ...] = ("node", "graph"),
    act_on: str = "first",
    exceptions: Mapping[str, str] | None = None,
    **fixed: Any,
) -> ModelCard:
    """The card of a model between the common encoder and decoder.

    Args:
        name: What it is called.
        core: Makes its core from ``(channels, num_layers, dropout, act)``; its keyword-only parameters are the model's
            own options, with their types and defaults.
        summary: What it is, in a line.
        paper: Who proposed it, and where to read it.
        tasks: What it is for.
        act_on: Whether the activation stands on the first or on the last state, as in :class:`GraphNet`.
        exceptions: The conformance checks it does not pass, each with the reason.
        **fixed: Options of the core that the name decides, and that cannot be set.
    """
    hints = get_type_hints(core.__init__ if inspect.isclass(core) else core)
    options = {
        parameter.name: Option(hints[parameter.name], parameter.default)
        for parameter in inspect.signature(core).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in fixed
    }
    return ModelCard(
        name,
        partial(CoreNet, core=core, act_on=act_on, **fixed),
        summary,
        paper,
        tasks,
        options,
        tuple(option for option in GENERAL if option in options),
        exceptions or {},
    )
