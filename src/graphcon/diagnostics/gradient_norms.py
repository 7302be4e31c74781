"""How much of the loss's gradient reaches every step."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.data import Data

from graphcon import kernels
from graphcon._calling import arguments, inside
from graphcon.diagnostics.watching import evaluating, find_core, find_layers, first, given, once, stream

_KEPT = "_parameters_behind_aliases"  # where a module keeps its parameters meanwhile


class GradientNorms(NamedTuple):
    r"""Norms of the loss's gradient along the depth.

    Attributes:
        states: :math:`\|\partial L / \partial X_n\|` for :math:`n = 0, \ldots, N`, ``[steps + 1]``.
        weights: :math:`\|\partial L / \partial W_n\|` for the weights as step :math:`n = 1, \ldots, N` sees them,
            ``[steps]``. Of weights that steps share, this is each step's part of the sum.
    """

    states: Tensor
    weights: Tensor


def gradient_norms(model: Module, data: Data, loss: Callable[[Tensor], Tensor]) -> GradientNorms:
    r"""Norms of the gradient of a loss with respect to the state and the weights of every step.

    The states are those of :func:`trajectory_table`. The model is in evaluation mode meanwhile; its own ``.grad``
    are not touched. The memory is that of one training step without checkpoints.

    Args:
        model (torch.nn.Module): A model of PyG, of this package or of one's own.
        data (torch_geometric.data.Data): A graph or a batch, handed over as the model's forward names it.
        loss (Callable): The loss as a function of what the model returns.

    Example::

        norms = gradient_norms(model, data, lambda out: F.cross_entropy(out[data.train_mask], data.y[data.train_mask]))
    """
    model, norms = inside(model), _Norms()
    inputs = arguments(model, data)
    if isinstance(x := inputs.get("x"), Tensor) and x.is_floating_point():
        inputs["x"] = x.detach().requires_grad_()
    # On the kernels all steps are one operation; the layers' own path has every state.
    with evaluating(model), kernels.disabled(), torch.enable_grad(), _recorded(model, norms):
        value = loss(model(**inputs))
    wanted = [p for p in model.parameters() if p.requires_grad]
    wanted += [v for v in inputs.values() if isinstance(v, Tensor) and v.requires_grad]
    torch.autograd.grad(value, wanted, allow_unused=True)
    return norms.collect()


class _Norms:
    """Collects squared norms while the gradient flows back; of each tensor only its norm is kept."""

    def __init__(self) -> None:
        self.squares: dict[str, list[float]] = {"states": [], "weights": []}

    def watch(self, kind: str, *tensors: Tensor) -> None:
        """Starts the next step of a kind with these tensors."""
        squares = self.squares[kind]
        squares.append(0.0)
        place = len(squares) - 1

        def arrived(gradient: Tensor) -> None:
            squares[place] += float(gradient.double().square().sum())

        for tensor in tensors:
            if tensor.requires_grad:
                tensor.register_hook(arrived)

    def collect(self) -> GradientNorms:
        return GradientNorms(*(torch.tensor(squares, dtype=torch.double).sqrt() for squares in self.squares.values()))


@contextmanager
def _recorded(model: Module, norms: _Norms) -> Iterator[None]:
    """Within this context states and weights are watched as the model runs."""
    core = find_core(model)
    with ExitStack() as undo:
        if core is not None and hasattr(core, "states"):
            forward, first_call = core.forward, once(core)
            undo.callback(core.__dict__.pop, "forward", None)

            def walk(*args: Any, **kwargs: Any) -> Tensor:
                first_call()
                return _walk(core, forward, norms, args, kwargs)

            core.forward = walk
            yield
            return
        last: list[Tensor] = []

        def enter(layer: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            norms.watch("states", given(args, kwargs))
            norms.watch("weights", *_alias(layer))

        def leave(layer: Module, args: tuple[Any, ...], out: Any) -> None:
            _restore(layer)
            last[:] = [first(out)]

        for layer in find_layers(model):
            undo.callback(_restore, layer)
            undo.callback(layer.register_forward_pre_hook(enter, with_kwargs=True).remove)
            undo.callback(layer.register_forward_hook(leave).remove)
        yield
        norms.watch("states", *last)


def _walk(
    core: Any, forward: Callable[..., Any], norms: _Norms, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    """A core's forward, state by state, each step with weights of its own."""
    states = _whole_states(core, args, kwargs)
    state = next(states)
    norms.watch("states", state[0])
    parts = list(core.children())
    while True:
        aliases = [alias for part in parts for alias in _alias(part)]
        try:
            state = next(states)
        except StopIteration:
            break
        finally:
            for part in parts:
                _restore(part)
        norms.watch("states", state[0])
        norms.watch("weights", *aliases)
    if hasattr(core, "whole_states"):
        return core.end(*state)
    with torch.no_grad():
        out = first(forward(*args, **kwargs))
    if out.shape != state[0].shape or not torch.allclose(out, state[0], rtol=1e-3, atol=1e-3 * float(out.abs().max())):
        raise ValueError(
            f"{type(core).__name__} returns another thing than the last of its `states`, so that its loss cannot be "
            "followed through them: let its forward return the last state, and do what comes after it in another module"
        )
    return state[0]


def _whole_states(core: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[Tensor, ...]]:
    """All that a step hands to the next, X first, where the core tells that; X alone elsewhere."""
    if hasattr(core, "whole_states"):
        return core.whole_states(*args, **kwargs)
    return ((state,) for state in stream(core, *args, **kwargs))


def _alias(layer: Module) -> list[Tensor]:
    """Puts a view in the place of every parameter: a gradient that passes it is that of this call alone."""
    aliases = []
    for module in layer.modules():
        kept = module.__dict__.setdefault(_KEPT, {})
        for name, parameter in module._parameters.items():
            # A module that several parts share has its views from the first of them.
            if parameter is not None and parameter.requires_grad and name not in kept:
                kept[name] = parameter
                module._parameters[name] = parameter.view_as(parameter)  # pyright: ignore[reportArgumentType]  # a view, so that its gradient is its own
                aliases.append(module._parameters[name])
    return aliases


def _restore(layer: Module) -> None:
    for module in layer.modules():
        module._parameters.update(module.__dict__.pop(_KEPT, {}))
