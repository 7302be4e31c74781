"""The linear maps inside a layer, as the kernels take them."""

from typing import Any

from torch import Tensor

from graphcon.kernels.structure import constant


def biases(*maps: Any) -> tuple[Tensor, ...]:
    """What maps that stand one below the other add: zeros where one has no bias, and nothing where none has one."""
    if all(lin.bias is None for lin in maps):
        return ()
    return tuple(constant(0.0, len(lin.weight), lin.weight) if lin.bias is None else lin.bias for lin in maps)
