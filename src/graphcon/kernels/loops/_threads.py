"""The number of threads, set from within the loops: a loop that calls Numba's own function for it cannot be cached."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from graphcon.kernels.loops._lanes import intrinsic

_NUMBER = ir.IntType(32)


@intrinsic
def get_threads(_: Any) -> Any:
    """How many threads a loop is given."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(_routine(builder, _NUMBER, [], "get_num_threads"), [])

    return types.int32(), generate


@intrinsic
def set_threads(_: Any, number: Any) -> Any:
    """Gives the loops so many threads."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.call(_routine(builder, ir.VoidType(), [_NUMBER], "set_num_threads"), args)
        return context.get_dummy_value()

    return types.void(types.int32), generate


def _routine(builder: Any, gives: Any, takes: Any, name: str) -> Any:
    """One of the routines that Numba has named when its threads were started."""
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(gives, takes), name)
