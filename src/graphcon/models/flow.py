"""Networks that are first-order differential equations on a graph: one small class per right-hand side."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from torch import Tensor
from torch.nn import Module, ModuleList

from graphcon._validation import check_choice, check_number
from graphcon.divergence import watched
from graphcon.integrators import SCHEMES
from graphcon.models.core import Activation, Core, State, taken_by

Slope = Callable[[Tensor], Tensor]


class Dynamics(Module):
    """The right-hand side of an equation on a graph.

    Calling it with the first state and the graph returns the function of the state alone; what stays the same on the
    whole way, an attention computed once or a normalised adjacency, is computed in the call.
    """

    @abstractmethod
    def forward(self, x: Tensor, edge_index: Any) -> Slope:
        """Binds the first state ``x [nodes, channels]`` and the graph; returns ``slope(state)``."""


class Bound(NamedTuple):
    """What the steps of one pass need."""

    slopes: list[Slope]
    step: Callable[..., State]


class Flow(Core):
    r"""The flow of :math:`X' = f(X)` from :math:`X_0` on, on the same memory modes and diagnostics as the oscillator.

    Args:
        dynamics (Dynamics or list): The right-hand side, one for all steps or one per step.
        channels (int): Size of the state.
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
        channels: int,
        steps: int,
        act: Activation = "relu",
        *,
        dt: float = 1.0,
        method: str = "euler",
        memory: str = "auto",
        dropout: float = 0.0,
    ):
        super().__init__(channels, steps, dropout, act, memory)
        self.layers = ModuleList([dynamics] if isinstance(dynamics, Dynamics) else dynamics)
        self.takes = taken_by(self.layers)
        self.dt = check_number("dt", dt, positive=True)
        self.scheme = SCHEMES[check_choice("method", method, list(SCHEMES))]()
        if dropout > 0.0 and not self.scheme.allows_random_slope:
            raise ValueError(
                f"dropout={dropout} with method={method!r}: a solver that chooses its own steps needs a slope that is "
                "the same at every call; use dropout=0.0, or method='rk4'"
            )

    @property
    def stability(self) -> str:
        """What tells of the step when a state diverged."""
        return f"{self.scheme.name}, dt={self.dt:g}, with no damping of its own."

    def prepare(self, x: Tensor, edge_index: Any, **kwargs: Any) -> Bound:
        """The right-hand sides as functions of the state, and the step."""
        return Bound([dynamics(x, edge_index, **kwargs) for dynamics in self.layers], self.bind())

    def bind(self) -> Callable[..., State]:
        """The step ``(slope, *state) -> state``."""
        return self.scheme.bind(self.dt)

    def step(self, n: int, graph: Bound, *state: Tensor) -> State:
        return graph.step(graph.slopes[n if len(graph.slopes) > 1 else 0], *state)

    def _walk(self, graph: Bound) -> Callable[..., State]:
        return watched(super()._walk(graph), self)

    def __repr__(self) -> str:
        parts = [str(self.layers[0]), f"steps={self.steps}", f"dt={self.dt:g}", f"method={self.scheme.name}"]
        return f"{type(self).__name__}({', '.join(parts)}, shared={len(self.layers) == 1})"


def time_step(time: float | None, steps: int) -> float:
    """The step that divides the whole time into so many; 1 where no time is given."""
    return 1.0 if time is None else check_number("time", time, positive=True) / steps
