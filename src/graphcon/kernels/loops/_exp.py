"""Exponentials in plain arithmetic, of a number or of lanes of them: a call to the C library takes one at a time.

They are right to a few units of the last place, infinite and zero where they should be, and NaN for NaN.
"""

import math
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from graphcon.kernels.loops._lanes import Lanes, intrinsic

# Products may be contracted as everywhere, but not reordered: what is done here hangs on the order.
_FLAGS = ("contract",)

# For numbers of so many bits: those of the fraction, the terms that the series takes for numbers below log(2) / 2,
# log(2) in two parts, the first with few digits, and from where to where the result is neither zero nor infinite.
_FRACTION = {32: 23, 64: 52}
_TERMS = {32: 7, 64: 13}
_LOG_2 = {32: (0.693359375, -2.12194440054690583e-4), 64: (6.93147180369123816e-1, 1.90821492927058770e-10)}
_RANGE = {32: (-105.0, 90.0), 64: (-746.0, 711.0)}


@intrinsic
def exp(_: Any, x: Any) -> Any:
    """The exponential of x."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _Arithmetic(context, builder, x).exp(args[0])

    return x(x), generate


@intrinsic
def expm1(_: Any, x: Any) -> Any:
    """The exponential of x less 1: as small as x where that is small."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _Arithmetic(context, builder, x).expm1(args[0])

    return x(x), generate


@intrinsic
def tanh(_: Any, x: Any) -> Any:
    """The hyperbolic tangent of x."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to = _Arithmetic(context, builder, x)
        far = to.clamped(args[0], -25.0, 25.0)  # where it has long been 1
        e = to.expm1(builder.fadd(far, far, flags=_FLAGS))
        return builder.fdiv(e, builder.fadd(e, to.number(2.0), flags=_FLAGS), flags=_FLAGS)

    return x(x), generate


class _Arithmetic:
    """Writes instructions for numbers of one type, or for lanes of them."""

    def __init__(self, context: Any, builder: Any, kind: Any):
        element, self.count = (kind.dtype, kind.count) if isinstance(kind, Lanes) else (kind, None)
        self.builder, self.bits, self.type = builder, element.bitwidth, context.get_value_type(kind)
        whole = ir.IntType(self.bits)
        self.integers = whole if self.count is None else ir.VectorType(whole, self.count)

    def exp(self, x: Any) -> Any:
        r, scale, more = self._reduced(x)
        return self._product(self._series(r, 0), scale, more)

    def expm1(self, x: Any) -> Any:
        r, scale, more = self._reduced(x)
        power = self._product(scale, more)
        rest = self.builder.fsub(power, self.number(1.0), flags=_FLAGS)
        less = self._fma(self._product(self._series(r, 1), r), power, rest)
        # The power may be infinite where its product with something smaller is not; there the 1 is lost anyway.
        huge = self.builder.fcmp_ordered(">", x, self.number(_RANGE[self.bits][1] - 3.0))
        return self.builder.select(huge, self._product(self._series(r, 0), scale, more), less)

    def number(self, value: float) -> Any:
        return self.type(value if self.count is None else [value] * self.count)

    def clamped(self, x: Any, low: float, high: float) -> Any:
        """x, or the nearest number between the two; NaN stays."""
        for sign, end in (("<", self.number(low)), (">", self.number(high))):
            x = self.builder.select(self.builder.fcmp_ordered(sign, x, end), end, x)
        return x

    def _integer(self, value: int) -> Any:
        return self.integers(value if self.count is None else [value] * self.count)

    def _fma(self, a: Any, b: Any, c: Any) -> Any:
        """``a * b + c``, rounded once where the machine can."""
        name = f"llvm.fmuladd.{'' if self.count is None else f'v{self.count}'}f{self.bits}"
        signature = ir.FunctionType(self.type, [self.type] * 3)
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, signature, name), [a, b, c])

    def _product(self, first: Any, *others: Any) -> Any:
        """The product, taken from left to right."""
        for other in others:
            first = self.builder.fmul(first, other, flags=_FLAGS)
        return first

    def _series(self, r: Any, first: int) -> Any:
        """The sum of ``r ** (k - first) / k!`` from `first` on."""
        last = _TERMS[self.bits]
        total = self.number(1 / math.factorial(last))
        for k in range(last - 1, first - 1, -1):
            total = self._fma(total, r, self.number(1 / math.factorial(k)))
        return total

    def _reduced(self, x: Any) -> tuple[Any, Any, Any]:
        """r, 2 ** a and 2 ** b with ``x = r + (a + b) log 2`` and r small. One power of two would not reach as far."""
        builder, x = self.builder, self.clamped(x, *_RANGE[self.bits])
        # A number of this size has no digits after the point, and the last bits of its fraction count from here on.
        origin = self.number(1.5 * 2.0 ** _FRACTION[self.bits])
        shifted = self._fma(x, self.number(1 / math.log(2)), origin)
        n = builder.fsub(shifted, origin, flags=_FLAGS)
        for part in _LOG_2[self.bits]:
            x = self._fma(n, self.number(-part), x)
        whole = builder.sub(builder.bitcast(shifted, self.integers), builder.bitcast(origin, self.integers))
        half = builder.ashr(whole, self._integer(1))
        return x, self._power(half), self._power(builder.sub(whole, half))

    def _power(self, n: Any) -> Any:
        """2 ** n, written into the exponent of a number."""
        fraction = _FRACTION[self.bits]
        bias = 2 ** (self.bits - fraction - 2) - 1
        moved = self.builder.shl(self.builder.add(n, self._integer(bias)), self._integer(fraction))
        return self.builder.bitcast(moved, self.type)
