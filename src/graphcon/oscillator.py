"""GraphCON: any message-passing layer as the coupling of damped oscillators."""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, cast, overload

import torch
from torch import Tensor
from torch.nn import Dropout, Module, ModuleList, Parameter
from torch_geometric.nn import inits

from graphcon import _validation as validation
from graphcon import kernels
from graphcon import memory as memories
from graphcon._activations import name_of, resolve_act
from graphcon._coefficients import Coefficients
from graphcon.divergence import watched
from graphcon.integrators import IMEX, INTEGRATORS, Integrator
from graphcon.stability import DegenerateDynamicsWarning, Stability, UnstableDynamicsWarning

State = tuple[Tensor, ...]
Coupling = Callable[[Tensor], Tensor]


class GraphCON(Coefficients):
    r"""Wraps a message-passing layer F into a network of coupled, damped oscillators (eqs. (1) and (4) of
    `"Graph-Coupled Oscillator Networks" <https://arxiv.org/abs/2202.02296>`_).

    .. math::
        X'' = \sigma(F(X)) - \gamma X - \alpha X'

    is stepped from :math:`X_0 = x` and :math:`Y_0 = y`, by default as

    .. math::
        Y_n &= Y_{n-1} + \Delta t\,[\sigma(F(X_{n-1})) - \gamma X_{n-1} - \alpha Y_{n-1}] \\
        X_n &= X_{n-1} + \Delta t\, Y_n

    Args:
        coupling (torch.nn.Module or list): A layer that maps ``[nodes, channels]`` to the same shape, shared by all
            steps; or a list with one layer per step.
        steps (int, optional): The number of steps. Needed for a shared layer. (default: length of the list)
        dt (float, optional): The time step :math:`\Delta t`. (default: :obj:`0.5`)
        alpha (float, optional): The damping :math:`\alpha`. (default: :obj:`0.5`)
        gamma (float, optional): The squared frequency :math:`\gamma`. (default: :obj:`1.0`)
        act (str or Callable, optional): The activation :math:`\sigma`, by name or as a callable; :obj:`None` or
            :obj:`"identity"` for none. (default: :obj:`"relu"`)
        dropout (float, optional): Dropout on the force :math:`\sigma(F(X))`, not on the state. (default: :obj:`0.0`)
        integrator (str or Integrator, optional): How to step: :obj:`"imex"` (the scheme above), :obj:`"strang"`
            (second order) or :obj:`"adaptive"` (the continuous-time solution). (default: :obj:`"imex"`)
        memory (str, optional): How the backward pass gets the states: :obj:`"store"` keeps them, :obj:`"checkpoint"`
            keeps about the square root of the depth and recomputes, with gradients equal to the last bit,
            :obj:`"auto"` decides by size. (default: :obj:`"auto"`)
        trainable (bool, optional): Learns :math:`\alpha` and :math:`\gamma` per channel from the given values on,
            kept non-negative. (default: :obj:`False`)
        norm (list, optional): A module for every step that normalises :math:`F(X)` before the activation, e.g.
            ``[BatchNorm1d(64) for _ in range(32)]``. Not in the paper's equation. (default: :obj:`None`)
        source (float, optional): Adds :math:`\beta X_0` to :math:`F(X)`, so that the first state is not forgotten;
            :math:`\beta` is learned from this value on. Not in the paper's equation. (default: none)

    Shapes:
        - **input:** x ``[nodes, channels]``, then whatever the coupling takes, e.g. ``edge_index [2, edges]``
        - **output:** ``[nodes, channels]``

    Example::

        layer = GraphCON(GCNConv(64, 64), steps=32)
        x = layer(x, edge_index)
    """

    def __init__(
        self,
        coupling: Module | Sequence[Module],
        steps: int | None = None,
        *,
        dt: float = 0.5,
        alpha: float = 0.5,
        gamma: float = 1.0,
        act: str | Callable[[Tensor], Tensor] | None = "relu",
        dropout: float = 0.0,
        integrator: str | Integrator = "imex",
        memory: str = "auto",
        trainable: bool = False,
        norm: Iterable[Module] | None = None,
        source: float | None = None,
    ):
        super().__init__(alpha, gamma, trainable)
        self.coupling, self.steps = validation.check_coupling_and_steps(coupling, steps)
        self.dt = validation.check_number("dt", dt, positive=True)
        self.act = resolve_act(act)
        self.dropout = Dropout(validation.check_probability("dropout", dropout))
        self.integrator = _resolve_integrator(integrator)
        self.memory = validation.check_choice("memory", memory, ["auto", *memories.STRATEGIES])
        self.norms = None if norm is None else validation.check_norms(norm, self.steps)
        self.source = None if source is None else validation.check_number("source", source, positive=False)
        self.beta = None if self.source is None else Parameter(torch.tensor(self.source))
        if dropout > 0.0 and not self.integrator.allows_random_force:
            raise ValueError(
                f"dropout={dropout} with integrator={self.integrator.name!r}: a solver that chooses its own steps "
                "needs a force that is the same at every call; use dropout=0.0, or integrator='strang'"
            )
        self._takes = validation.arguments_after_x(self._layer(0))
        self._warn_of_dynamics()
        if trainable:
            self._learn(validation.width(self._layer(0)) or validation.width_of_network(self._layer(0)))

    @property
    def shared(self) -> bool:
        """Whether all steps share one layer."""
        return not isinstance(self.coupling, ModuleList)

    @property
    def stability(self) -> Stability:
        """What the uncoupled step does with dt and the alpha and gamma given at the start."""
        return self.integrator.stability(self.dt, **self._start)

    def forward(
        self, x: Tensor, *args: Any, y: Tensor | None = None, return_velocity: bool = False, **kwargs: Any
    ) -> Any:
        r"""Steps the oscillators from :math:`X_0 = x` to :math:`X_N`.

        Args:
            x (torch.Tensor): The node features :math:`X_0`, ``[nodes, channels]``.
            *args: What the coupling takes after x, e.g. ``edge_index``.
            y (torch.Tensor, optional): The velocities :math:`Y_0`. (default: :obj:`x`)
            return_velocity (bool, optional): Returns :math:`(X_N, Y_N)`. (default: :obj:`False`)
            **kwargs: What the coupling takes by name, e.g. ``edge_weight``.
        """
        walk, state, messages = self._prepare(x, y, args, kwargs)
        run = memories.choose(self.memory, self.steps, x, messages)
        x, y = run(walk, state, self.steps, self, self._by_name(args, kwargs))[:2]
        return (x, y) if return_velocity else x

    @overload
    def trajectory(
        self, x: Tensor, *args: Any, y: Tensor | None = ..., return_velocity: Literal[False] = ..., **kwargs: Any
    ) -> Tensor: ...

    @overload
    def trajectory(
        self, x: Tensor, *args: Any, y: Tensor | None = ..., return_velocity: Literal[True], **kwargs: Any
    ) -> tuple[Tensor, Tensor]: ...

    @torch.no_grad()
    def trajectory(
        self, x: Tensor, *args: Any, y: Tensor | None = None, return_velocity: bool = False, **kwargs: Any
    ) -> Any:
        r"""Returns all states :math:`X_0, \ldots, X_N` as ``[steps + 1, nodes, channels]``, keeping no gradients.

        Args:
            x (torch.Tensor): The node features :math:`X_0`, ``[nodes, channels]``.
            *args: What the coupling takes after x.
            y (torch.Tensor, optional): The velocities :math:`Y_0`. (default: :obj:`x`)
            return_velocity (bool, optional): Returns the pair of all X and all Y. (default: :obj:`False`)
            **kwargs: What the coupling takes by name.
        """
        states = list(self.states(x, *args, y=y, return_velocity=True, **kwargs))
        xs = torch.stack([x for x, _ in states])
        return (xs, torch.stack([y for _, y in states])) if return_velocity else xs

    @overload
    def states(
        self, x: Tensor, *args: Any, y: Tensor | None = ..., return_velocity: Literal[False] = ..., **kwargs: Any
    ) -> Iterator[Tensor]: ...

    @overload
    def states(
        self, x: Tensor, *args: Any, y: Tensor | None = ..., return_velocity: Literal[True], **kwargs: Any
    ) -> Iterator[tuple[Tensor, Tensor]]: ...

    def states(
        self, x: Tensor, *args: Any, y: Tensor | None = None, return_velocity: bool = False, **kwargs: Any
    ) -> Iterator[Any]:
        r"""Yields :math:`X_0, \ldots, X_N` one by one: what depth costs in memory is up to who asks.

        Gradients are kept unless within :obj:`torch.no_grad`.

        Args:
            x (torch.Tensor): The node features :math:`X_0`, ``[nodes, channels]``.
            *args: What the coupling takes after x.
            y (torch.Tensor, optional): The velocities :math:`Y_0`. (default: :obj:`x`)
            return_velocity (bool, optional): Yields pairs :math:`(X_n, Y_n)`. (default: :obj:`False`)
            **kwargs: What the coupling takes by name.
        """
        walk, state, _ = self._prepare(x, y, args, kwargs)
        yield state[:2] if return_velocity else state[0]
        for n in range(self.steps):
            state = walk(n, n + 1, *state)
            yield state[:2] if return_velocity else state[0]

    def reset_parameters(self) -> None:
        """Resets the layers, and alpha and gamma to the values given at the start."""
        self._reset_coefficients()
        inits.reset(self.coupling)
        inits.reset(self.act)
        inits.reset(self.norms)
        if self.source is not None:
            torch.nn.init.constant_(cast(Parameter, self.beta), self.source)

    def _prepare(
        self, x: Tensor, y: Tensor | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., State], State, int]:
        """Checks what comes in; returns the walk ``(first, last, x, y, *carried) -> state``, the first state, and how
        many numbers the messages of a step have.
        """
        validation.check_state(x, y, self._layer(0))
        if not torch.compiler.is_compiling():
            validation.check_graph(self._by_name(args, kwargs), x)
            self._materialize(x)
        elif self._waiting:
            raise RuntimeError(
                f"trainable=True, but coupling {self._layer(0)} does not tell its width: alpha and gamma take it from "
                "the first input, which a compiled program cannot; call the layer once before torch.compile"
            )
        couplings = self._bound(x, args, kwargs)
        if None in couplings and not torch.compiler.is_compiling():  # kernels take their like alone
            validation.check_parameters(x, self._layer(0))
        source = None if self.beta is None else self.beta * x
        walk = self._fused(couplings, x, source) or self._step_by_step(couplings, source, args, kwargs)
        return watched(walk, self), (x, x if y is None else y), self._messages(couplings, x, args, kwargs)

    def _bound(self, x: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Coupling | None]:
        """The layers on the kernels, where these cover them: learned coefficients, too, must be of the type of x."""
        learned = [getattr(self, f"raw_{name}") for name in self._start] if self.trainable else []
        if any(raw.dtype != x.dtype or raw.device != x.device for raw in learned):
            return [None for _ in self._layers()]
        return [kernels.bind(layer, x, args, kwargs) for layer in self._layers()]

    def _messages(
        self, couplings: list[Coupling | None], x: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> int:
        """How many numbers the messages of a step have, in layers on their own path: kernels make none."""
        if None not in couplings:
            return 0
        edge_index = self._by_name(args, kwargs).get("edge_index")
        pairs = zip(self._layers(), couplings, strict=True)
        return max(validation.messages(layer, edge_index, x) for layer, bound in pairs if bound is None)

    def _fused(self, couplings: list[Coupling | None], x: Tensor, source: Tensor | None) -> Callable[..., State] | None:
        """The walk on kernels that do a whole step of the paper's scheme in one pass, where there are such."""
        served = [coupling for coupling in couplings if coupling is not None]
        if type(self.integrator) is not IMEX or len(served) < len(couplings):
            return None
        if type(self.dropout) is not Dropout or not kernels.untouched(self.dropout) or self.dropout.p >= 1.0:
            return None
        different = len(served) if self.norms is None else self.steps
        served = [self._checked(n, served[0 if self.shared else n]) for n in range(different)]
        dropout = self.dropout.p if self.dropout.training else 0.0
        coefficients = {"dt": self.dt, "alpha": self.alpha, "gamma": self.gamma, "source": source}
        return kernels.fuse(served, x, self.steps, act=self.act, dropout=dropout, **coefficients)

    def _step_by_step(
        self,
        couplings: list[Coupling | None],
        source: Tensor | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Callable[..., State]:
        step = self.integrator.bind(self.dt, self.alpha, self.gamma)

        def force(n: int) -> Callable[[Tensor], Tensor]:
            layer, bound = self._layer(n), couplings[0 if self.shared else n]

            def at(x: Tensor) -> Tensor:
                f = self._normalised(n, x, layer(x, *args, **kwargs) if bound is None else bound(x))
                f = self.act(f if source is None else f + source)
                validation.check_force(f, x, name_of(self.act), name="act")
                return self.dropout(f)

            return at

        def walk(first: int, last: int, *state: Tensor) -> State:
            for n in range(first, last):
                state = step(force(n), *state)
                state = state if self.shared and self.norms is None else state[:2]  # what is carried is one step's
            return state

        return walk

    def _checked(self, n: int, coupling: Coupling) -> Coupling:
        """The layer of step n and its normalisation; what is a kernel from end to end returns the shape it is given."""
        if self.norms is None and isinstance(coupling, kernels.Coupling):
            return coupling
        return lambda x: self._normalised(n, x, coupling(x))

    def _normalised(self, n: int, x: Tensor, f: Tensor) -> Tensor:
        """What the layer of step n says of x, normalised; both of the shape of x."""
        validation.check_force(f, x, self._layer(n))
        if self.norms is None:
            return f
        f = self.norms[n](f)
        validation.check_force(f, x, self.norms[n], name="norm")
        return f

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        return dict(zip(self._takes, args, strict=False)) | kwargs

    def _layers(self) -> list[Module]:
        return list(self.coupling) if isinstance(self.coupling, ModuleList) else [self.coupling]

    def _layer(self, n: int) -> Module:
        return self.coupling[n] if isinstance(self.coupling, ModuleList) else self.coupling

    def _warn_of_dynamics(self) -> None:
        verdict = self.stability
        if verdict.regime == "degenerate":
            warnings.warn(self._describe(verdict), DegenerateDynamicsWarning, stacklevel=_outside())
        elif verdict.regime == "unstable":
            warnings.warn(self._describe(verdict), UnstableDynamicsWarning, stacklevel=_outside())

    def _describe(self, verdict: Stability) -> str:
        return f"GraphCON with dt={self.dt:g}, {self._coefficients()} is {verdict}"

    def _coefficients(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self._start.items())

    def __repr__(self) -> str:
        """All that tells two GraphCONs apart, in one line."""
        if isinstance(self.coupling, ModuleList):
            names = list(dict.fromkeys(str(layer) for layer in self.coupling))
            layers = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
        else:
            layers = str(self.coupling)
        parts = [layers, f"steps={self.steps}", f"dt={self.dt:g}", self._coefficients(), f"act={name_of(self.act)}"]
        dropped = getattr(self.dropout, "p", 0.0)
        parts += [f"dropout={dropped:g}"] if dropped > 0 else []
        parts += [f"integrator={self.integrator.name}", f"memory={self.memory}", f"shared={self.shared}"]
        parts += ["trainable=True"] if self.trainable else []
        parts += [f"norm={type(self.norms[0]).__name__}"] if self.norms else []
        parts += [] if self.source is None else [f"source={self.source:g}"]
        return f"{type(self).__name__}({', '.join(parts)})"


def _outside() -> int:
    """How far up the first caller is that is not of this package, as seen from who asks: whom a warning is for."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        frame, level = frame.f_back, level + 1
    return level


def _resolve_integrator(integrator: str | Integrator) -> Integrator:
    if isinstance(integrator, Integrator):
        return integrator
    return INTEGRATORS[validation.check_choice("integrator", integrator, list(INTEGRATORS))]()
