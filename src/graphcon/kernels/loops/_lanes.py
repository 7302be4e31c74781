"""Several numbers side by side in registers, for sums that must not go through memory edge by edge.

What a compiler makes of a sum over edges reads and writes the total for every edge; kept in registers it is faster, the
more so the larger the graph. `Lanes` is a type of Numba for a vector of LLVM, and these are all the operations it has.
"""

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.extending import models, register_model

intrinsic: Any = extending.intrinsic  # it gives back something else than what it is given

# Sums of products may be contracted and reordered, as in all loops.
_FLAGS = ("contract", "reassoc", "nsz")


class Lanes(types.Type):
    """So many numbers of one type."""

    def __init__(self, dtype: Any, count: int):
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Lanes({dtype}, {count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes):
        element = manager.lookup(lanes.dtype).get_value_type()
        super().__init__(manager, lanes, ir.VectorType(element, lanes.count))


@intrinsic(prefer_literal=True)
def zeros(_: Any, array: Any, count: Any) -> Any:
    """As many zeros of the array's type; the count is a constant."""
    lanes = Lanes(array.dtype, count.literal_value)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_value_type(lanes)(None)

    return lanes(array, count), generate


@intrinsic
def load(_: Any, like: Any, array: Any, row: Any, column: Any) -> Any:
    """What stands in a row of a matrix from a column on, as many as `like` has."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[1:], args[1:], like)
        return builder.load(place, align=array.dtype.bitwidth // 8)

    return like(like, array, types.uintp, types.uintp), generate


@intrinsic
def store(_: Any, values: Any, array: Any, row: Any, column: Any) -> Any:
    """Writes the values to a row of a matrix from a column on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[1:], args[1:], values)
        builder.store(args[0], place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(values, array, types.uintp, types.uintp), generate


@intrinsic
def plus_scaled(_: Any, total: Any, factor: Any, values: Any) -> Any:
    """``total + factor * values``, the factor a number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(total)
        one = builder.insert_element(vector(ir.Undefined), args[1], ir.IntType(32)(0))
        mask = ir.VectorType(ir.IntType(32), total.count)(None)
        factors = builder.shuffle_vector(one, vector(ir.Undefined), mask)
        return builder.fadd(args[0], builder.fmul(factors, args[2], _FLAGS), _FLAGS)

    return total(total, total.dtype, values), generate


@intrinsic
def plus_product(_: Any, total: Any, left: Any, right: Any) -> Any:
    """``total + left * right``, lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(args[0], builder.fmul(args[1], args[2], _FLAGS), _FLAGS)

    return total(total, left, right), generate


@intrinsic
def sum_of(_: Any, values: Any) -> Any:
    """The sum of all lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, number = context.get_value_type(values), context.get_value_type(values.dtype)
        name = f"llvm.vector.reduce.fadd.v{values.count}f{values.dtype.bitwidth}"
        reduce = cgutils.get_or_insert_function(builder.module, ir.FunctionType(number, [number, vector]), name)
        return builder.call(reduce, [number(0.0), args[0]], fastmath=_FLAGS)

    return values.dtype(values), generate


def _place(context: Any, builder: Any, kinds: Any, args: Any, lanes: Lanes) -> Any:
    """The address of an entry of a matrix, as that of a vector."""
    array, row, column = args
    matrix = context.make_array(kinds[0])(context, builder, array)
    stride = builder.extract_value(matrix.strides, 0)
    size = context.get_constant(types.uintp, kinds[0].dtype.bitwidth // 8)
    offset = builder.add(builder.mul(row, stride), builder.mul(column, size))
    start = builder.ptrtoint(matrix.data, offset.type)
    return builder.inttoptr(builder.add(start, offset), context.get_value_type(lanes).as_pointer())
