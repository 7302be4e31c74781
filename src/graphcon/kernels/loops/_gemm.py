"""Products of matrices from within the loops: by the routine that torch itself calls, where it lets one, else SciPy's.

Both are the BLAS of Fortran, which counts columns first: to it a matrix of ours is its transpose.
"""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address

from graphcon.kernels.loops._jit import inlined
from graphcon.kernels.loops._lanes import intrinsic

_LETTERS = np.frombuffer(b"NT", np.uint8)


@cache
def gemm(dtype: torch.dtype) -> int:
    """The address of ``sgemm`` or ``dgemm``."""
    name = "sgemm" if dtype is torch.float32 else "dgemm"
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    try:
        address = ctypes.cast(getattr(ctypes.CDLL(str(library)), f"{name}_"), ctypes.c_void_p).value
    except (OSError, AttributeError):
        address = None
    return address or get_cython_function_address("scipy.linalg.cython_blas", name)


@inlined
def multiply(gemm, a, b, turn_b, out):
    """``out = a b``, or ``a b^T`` where b is to be turned."""
    _call(gemm, a, False, b, turn_b, out, 0)


@inlined
def add_product(gemm, a, turn_a, b, turn_b, out):
    """Adds ``a b`` to `out`, either of them turned where so said."""
    _call(gemm, a, turn_a, b, turn_b, out, 1)


@inlined
def _call(gemm, a, turn_a, b, turn_b, out, keep):
    inner = a.shape[0] if turn_a else a.shape[1]
    sizes = np.array([out.shape[1], out.shape[0], inner, b.shape[1], a.shape[1], out.shape[1]], np.int32)
    scales = np.array([1, keep], out.dtype)
    size, letter, scale = sizes.ctypes.data, _LETTERS.ctypes.data, scales.ctypes.data
    call_routine(
        gemm,
        (
            letter + turn_b, letter + turn_a, size, size + 4, size + 8, scale, b.ctypes.data, size + 12, a.ctypes.data,
            size + 16, scale + out.itemsize, out.ctypes.data, size + 20,
        ),
    )  # fmt: skip


@intrinsic
def call_routine(_: Any, address: Any, arguments: Any) -> Any:
    """Calls a routine that takes addresses alone."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = context.get_value_type(types.uintp)
        routine = ir.FunctionType(ir.VoidType(), [word] * arguments.count)
        given = [builder.extract_value(args[1], n) for n in range(arguments.count)]
        builder.call(builder.inttoptr(args[0], routine.as_pointer()), given)
        return context.get_dummy_value()

    return types.void(types.uintp, types.UniTuple(types.uintp, arguments.count)), generate
