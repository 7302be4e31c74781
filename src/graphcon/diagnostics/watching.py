"""The states of any model while it runs, found through hooks.

A *core* is a module that tells its own states: it has ``states``, which yields them one by one, or ``trajectory``,
which returns them stacked. `GraphCON` and the networks it is compared with are such. In every other model the states
are what its message-passing layers are given, in the order of their calls, and at the end what the last returns.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor
from torch.nn import Module
from torch_geometric.nn import MessagePassing

from graphcon._calling import evaluating as evaluating  # beside the other ways to look at a model


def find_core(model: Module) -> Module | None:
    """The outermost module that tells its own states, or None."""
    cores = outermost(model, lambda module: hasattr(module, "states") or hasattr(module, "trajectory"))
    if len(cores) > 1:
        raise ValueError(
            f"the model has {len(cores)} modules that tell their own states ({', '.join(names_of(cores))}): "
            "look at each of them by itself"
        )
    return cores[0] if cores else None


def find_layers(model: Module) -> list[Module]:
    """The outermost message-passing layers.

    Raises:
        ValueError: There is none.
    """
    layers = outermost(model, lambda module: isinstance(module, MessagePassing))
    if not layers:
        raise ValueError(
            f"{type(model).__name__} has no message-passing layer of PyG and no method `states` or `trajectory`: "
            "there is nothing whose states could be told. Give the states themselves to state_table"
        )
    return layers


def outermost(model: Module, wanted: Callable[[Module], bool]) -> list[Module]:
    """The modules that are wanted and not inside another one that is."""
    if wanted(model):
        return [model]
    found = (module for child in model.children() for module in outermost(child, wanted))
    return list(dict.fromkeys(found))  # a layer that stands in two places is one layer


def names_of(modules: list[Module]) -> list[str]:
    """The classes of modules, in words."""
    return [type(module).__name__ for module in modules]


@contextmanager
def watched(model: Module, see: Callable[[Tensor], None]) -> Iterator[None]:
    """Within this context ``see`` is called with every state of the model, one after another, as it runs.

    A core computes its states once more, beside what it returns: its own fast path may not pass through them.
    """
    core = find_core(model)
    with ExitStack() as hooks:
        if core is not None:
            first_call = once(core)

            def before(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
                first_call()
                for state in stream(module, *args, **kwargs):
                    see(state)

            hooks.callback(core.register_forward_pre_hook(before, with_kwargs=True).remove)
            yield
            return
        last: list[Tensor] = []

        def enter(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            see(given(args, kwargs))

        def leave(module: Module, args: tuple[Any, ...], out: Any) -> None:
            last[:] = [first(out)]

        for layer in find_layers(model):
            hooks.callback(layer.register_forward_pre_hook(enter, with_kwargs=True).remove)
            hooks.callback(layer.register_forward_hook(leave).remove)
        yield
        if last:
            see(last[0])


def once(core: Module) -> Callable[[], None]:
    """To be told of every call of a core; refuses the second, whose states would follow those of another depth."""
    calls: list[None] = []

    def called() -> None:
        if calls:
            raise ValueError(
                f"the model calls its {type(core).__name__} more than once, and each call has states of its own: look "
                "at one call by itself, e.g. at that module with what it is given as data.x"
            )
        calls.append(None)

    return called


def stream(core: Any, *args: Any, **kwargs: Any) -> Iterator[Tensor]:
    """The states of a core, one by one where it can."""
    states = core.states if hasattr(core, "states") else core.trajectory
    return (first(state) for state in states(*args, **kwargs))


def given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """The features that a layer was called with."""
    return first(args[0] if args else kwargs["x"])


def first(value: Any) -> Tensor:
    """The features, where a layer takes or gives them in a tuple with other things."""
    return value if isinstance(value, Tensor) else first(value[0])


def check_rows(state: Tensor, nodes: int) -> Tensor:
    """The state, if it has a row per node of the data."""
    if state.dim() != 2 or state.size(0) != nodes:
        raise ValueError(
            f"a layer works on a state of shape {list(state.shape)}, but the data have {nodes} nodes: the model pools "
            "or samples between its layers. Give the states and their own edges to state_table"
        )
    return state
