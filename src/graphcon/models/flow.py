"""Networks that are first-order differential equations on a graph: one small class per right-hand side."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module, ModuleList
from torch_geometric.nn import inits

from graphcon import memory as memories
from graphcon._validation import check_choice, check_number
from graphcon.divergence import watched
from graphcon.integrators import SCHEMES
from graphcon.oscillator import resolve_act

Slope = Callable[[Tensor], Tensor]
State = tuple[Tensor, ...]


class Dynamics(Module):
    """The right-hand side of an equation on a graph.

    Calling it with the first state and the graph returns the function of the state alone; what stays the same on the
    whole way, an attention computed once or a normalised adjacency, is computed in the call.
    """

    @abstractmethod
    def forward(self, x: Tensor, edge_index: Any) -> Slope:
        """Binds the first state ``x [nodes, channels]`` and the graph; returns ``slope(state)``."""


class Flow(Module):
    r"""The flow of :math:`X' = f(X)` from :math:`X_0` on, on the same memory modes and diagnostics as the oscillator.

    Args:
        dynamics (Dynamics or list): The right-hand side, one for all steps or one per step.
        steps (int): The number of steps.
        act (str or Callable, optional): The activation of the network around it. (default: :obj:`"relu"`)
        dt (float, optional): The time of a step. (default: :obj:`1.0`)
        method (str, optional): How to step: :obj:`"euler"`, :obj:`"rk4"`, or :obj:`"dopri5"` for the solution in
            continuous time. (default: :obj:`"euler"`)
        memory (str, optional): How the backward pass gets the states: :obj:`"store"`, :obj:`"checkpoint"` or
            :obj:`"auto"`. (default: :obj:`"auto"`)
        dropout (float, optional): Dropout inside the right-hand side: not with a method that chooses its own steps.
    """

    def __init__(
        self,
        dynamics: Dynamics | Sequence[Dynamics],
        steps: int,
        act: str | Callable[[Tensor], Tensor] | None = "relu",
        *,
        dt: float = 1.0,
        method: str = "euler",
        memory: str = "auto",
        dropout: float = 0.0,
    ):
        super().__init__()
        self.layers = ModuleList([dynamics] if isinstance(dynamics, Dynamics) else dynamics)
        self.steps, self.act = steps, resolve_act(act)
        self.dt = check_number("dt", dt, positive=True)
        self.scheme = SCHEMES[check_choice("method", method, list(SCHEMES))]()
        self.memory = check_choice("memory", memory, ["auto", *memories.STRATEGIES])
        if dropout > 0.0 and not self.scheme.allows_random_slope:
            raise ValueError(
                f"dropout={dropout} with method={method!r}: a solver that chooses its own steps needs a slope that is "
                "the same at every call; use dropout=0.0, or method='rk4'"
            )

    @property
    def stability(self) -> str:
        """What tells of the step when a state diverged."""
        return f"{self.scheme.name}, dt={self.dt:g}, with no damping of its own."

    def forward(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Tensor:
        """The last state, from ``x [nodes, channels]``."""
        walk = self._walk(x, edge_index, kwargs)
        run = memories.choose(self.memory, self.steps, x)
        return run(walk, self._begin(x), self.steps, self.buffers())[0]

    @torch.no_grad()
    def trajectory(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Tensor:
        """All states, ``[steps + 1, nodes, channels]``, keeping no gradients."""
        walk = self._walk(x, edge_index, kwargs)
        states = [self._begin(x)]
        for n in range(self.steps):
            states.append(walk(n, n + 1, *states[-1]))
        return torch.stack([state[0] for state in states])

    def reset_parameters(self) -> None:
        """Resets all learnable parameters."""
        inits.reset(self.layers)

    def _begin(self, x: Tensor) -> State:
        return (x,)

    def _bind(self) -> Callable[..., State]:
        return self.scheme.bind(self.dt)

    def _walk(self, x: Tensor, edge_index: Any, kwargs: dict[str, Any]) -> Callable[..., State]:
        slopes = [dynamics(x, edge_index, **kwargs) for dynamics in self.layers]
        step = self._bind()

        def walk(first: int, last: int, *state: Tensor) -> State:
            for n in range(first, last):
                state = step(slopes[n if len(slopes) > 1 else 0], *state)
            return state

        return watched(walk, self)

    def __repr__(self) -> str:
        parts = [str(self.layers[0]), f"steps={self.steps}", f"dt={self.dt:g}", f"method={self.scheme.name}"]
        return f"{type(self).__name__}({', '.join(parts)}, shared={len(self.layers) == 1})"


def time_step(time: float | None, steps: int) -> float:
    """The step that divides the whole time into so many; 1 where no time is given."""
    return 1.0 if time is None else check_number("time", time, positive=True) / steps


def weighted_sum(x: Tensor, edge_index: Tensor, weight: Tensor) -> Tensor:
    r"""The sum over neighbours :math:`\sum_j w_{ij} x_j`, ``[nodes, channels]``."""
    source, target = edge_index
    return torch.zeros_like(x).index_add(0, target, weight.unsqueeze(-1) * x[source])
