"""Ops of torch that are called by the shortest way: the dispatcher's share of the time is more than a small graph's."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from graphcon.kernels import _runtime

_BATCHED: Any = torch._C._parse_dispatch_key("Batched")  # torch has no public name for it


def is_many(value: Any) -> bool:
    """Whether it stands for many tensors at once, as the gradients of a whole Jacobian do."""
    return isinstance(value, Tensor) and torch._C._dispatch_keys(value).has(_BATCHED)


class Op:
    """A custom op of ``torch.library``, which outside of any tracing is the function itself.

    Args:
        name: The op's name, with its library.
        run: What it does, annotated as ``torch.library.custom_op`` wants it.
    """

    def __init__(self, name: str, run: Callable[..., Any]):
        self.__doc__ = run.__doc__
        self.run, self.op = run, torch.library.custom_op(name, run, mutates_args=())
        self.register_fake = self.op.register_fake
        self._direct: Callable[..., Any] = run

    def register_autograd(self, back: Callable[..., Any], *, setup_context: Callable[..., None]) -> None:
        """Tells the gradients, as for any op of torch."""
        self.op.register_autograd(back, setup_context=setup_context)
        run = self.run

        class Direct(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *inputs: Any) -> Any:  # pyright: ignore  # autograd Functions take any arguments
                output = run(*inputs)
                setup_context(ctx, inputs, output)
                return output

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                return back(ctx, *grads)

        self._direct = Direct.apply

    def __call__(self, *args: Any) -> Any:
        """Calls it."""
        if _runtime.is_traced() or any(map(is_many, args[:2])):  # gradients come first
            return self.op(*args)
        return self._direct(*args) if torch.is_grad_enabled() else self.run(*args)


def op(name: str) -> Callable[[Callable[..., Any]], Op]:
    """Makes an op of a function."""
    return lambda run: Op(name, run)
