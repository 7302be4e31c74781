"""Steps one after another: the one loop that the plain networks and the rivals run on."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import Dropout, Module

from graphcon import memory as memories
from graphcon._activations import resolve_act
from graphcon._validation import called_layer, check_choice, check_probability

State = tuple[Tensor, ...]
Activation = str | Callable[[Tensor], Tensor] | None

#: What a network is given beside ``x`` and ``edge_index``, if its core takes it.
EXTRAS = ("edge_weight", "edge_attr", "batch", "pos")


class Edges(NamedTuple):
    """The graph that layers see: its edges, and what else they take by name."""

    index: Any
    given: dict[str, Any]


class Core(Module):
    r"""What stands between encoder and decoder: a first state, steps, an output.

    .. math::
        S_0 = \mathrm{begin}(X_0), \qquad S_n = \mathrm{step}_n(S_{n-1}), \qquad \mathrm{out} = \mathrm{end}(S_N)

    A model says what a step is. A state may carry more than X: what a step needs of earlier ones.

    Args:
        channels (int): Size of the state.
        num_layers (int): Number of steps.
        dropout (float, optional): Dropout, where the model has it. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        memory (str, optional): How the backward pass gets the states, as in ``GraphCON``. (default: :obj:`"auto"`)
    """

    #: What it takes beside ``edge_index`` itself, of :obj:`EXTRAS`; layers tell by the names of their arguments.
    needs: tuple[str, ...] = ()

    def __init__(
        self, channels: int, num_layers: int, dropout: float = 0.0, act: Activation = "relu", memory: str = "auto"
    ):
        super().__init__()
        self.channels = self.out_channels = channels
        self.steps = num_layers
        self.act, self.dropout = resolve_act(act), Dropout(check_probability("dropout", dropout))
        self.memory = check_choice("memory", memory, ["auto", *memories.STRATEGIES])
        self.takes: frozenset[str] = frozenset(self.needs)

    def forward(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Tensor:
        """Runs all steps on ``x [nodes, channels]``; returns ``[nodes, out_channels]``."""
        walk = self._walk(self.prepare(x, edge_index, **kwargs))
        run = memories.choose(self.memory, self.steps, x)
        return self.end(*run(walk, self.begin(x), self.steps, self, {"edge_index": edge_index, **kwargs}))

    @torch.no_grad()
    def trajectory(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Tensor:
        """The state X after every step, ``[steps + 1, nodes, channels]``, keeping no gradients."""
        return torch.stack(list(self.states(x, edge_index, **kwargs)))

    def states(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Iterator[Tensor]:
        """Yields ``x`` and then the state X after every step."""
        return (state[0] for state in self.whole_states(x, edge_index, **kwargs))

    def whole_states(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Iterator[State]:
        """Yields what the first step is given, and then what every step returns; `end` makes the output of the last."""
        walk, state = self._walk(self.prepare(x, edge_index, **kwargs)), self.begin(x)
        yield state
        for n in range(self.steps):
            state = walk(n, n + 1, *state)
            yield state

    def prepare(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Any:
        """What all steps need of the graph, made once per call."""
        return Edges(edge_index, kwargs)

    def begin(self, x: Tensor) -> State:
        """The first state."""
        return (x,)

    def step(self, n: int, graph: Any, *state: Tensor) -> State:
        """The state after step ``n``, counted from 0."""
        raise NotImplementedError

    def end(self, *state: Tensor) -> Tensor:
        """The output of the last state."""
        return state[0]

    def _walk(self, graph: Any) -> Callable[..., State]:
        def walk(first: int, last: int, *state: Tensor) -> State:
            for n in range(first, last):
                state = self.step(n, graph, *state)
            return state

        return walk

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.channels}, steps={self.steps})"


def taken_by(layers: Iterable[Module]) -> frozenset[str]:
    """What all of these layers take of :obj:`EXTRAS`, by the names of their arguments."""
    names = [set(inspect.signature(called_layer(layer).forward).parameters) for layer in layers]
    return frozenset(EXTRAS).intersection(*names)
