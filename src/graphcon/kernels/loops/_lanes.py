"""Several numbers side by side in registers, for sums that must not go through memory edge by edge.

What a compiler makes of a sum over edges reads and writes the total for every edge; kept in registers it is faster, the
more so the larger the graph. `Lanes` is a type of Numba for a vector of LLVM, and these are all the operations it has.
"""

from operator import add, mul, sub, truediv
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
def load_some(_: Any, like: Any, array: Any, row: Any, column: Any, many: Any) -> Any:
    """The same where the row may end before: the first so many, and zeros."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[1:], args[1:4], like)
        vector, align = context.get_value_type(like), ir.IntType(32)(array.dtype.bitwidth // 8)
        mask, name = _first(builder, args[4], like.count), f"llvm.masked.load.{_suffix(like)}.p0"
        signature = ir.FunctionType(vector, [place.type, align.type, mask.type, vector])
        read = cgutils.get_or_insert_function(builder.module, signature, name)
        return builder.call(read, [place, align, mask, vector(None)])

    return like(like, array, types.uintp, types.uintp, types.uintp), generate


@intrinsic
def store_some(_: Any, values: Any, array: Any, row: Any, column: Any, many: Any) -> Any:
    """The same where the row may end before: writes the first so many."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[1:], args[1:4], values)
        vector, align = context.get_value_type(values), ir.IntType(32)(array.dtype.bitwidth // 8)
        mask, name = _first(builder, args[4], values.count), f"llvm.masked.store.{_suffix(values)}.p0"
        signature = ir.FunctionType(ir.VoidType(), [vector, place.type, align.type, mask.type])
        write = cgutils.get_or_insert_function(builder.module, signature, name)
        builder.call(write, [args[0], place, align, mask])
        return context.get_dummy_value()

    return types.void(values, array, types.uintp, types.uintp, types.uintp), generate


def _arithmetic(sign: Any, instruction: str) -> None:
    """Gives lanes an operator: lane by lane, with other lanes or with one number for all."""

    @intrinsic
    def apply(_: Any, left: Any, right: Any) -> Any:
        lanes = left if isinstance(left, Lanes) else right
        kinds = [kind if isinstance(kind, Lanes) else lanes.dtype for kind in (left, right)]

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vector = context.get_value_type(lanes)
            left, right = (arg if arg.type == vector else _spread(builder, arg, vector) for arg in args)
            return getattr(builder, instruction)(left, right, flags=_FLAGS)

        return lanes(*kinds), generate

    @extending.overload(sign)
    def typed(left, right):  # Numba compares its signature with that of what it returns
        lanes = [kind for kind in (left, right) if isinstance(kind, Lanes)]
        if lanes and all(kind in (lanes[0], lanes[0].dtype) for kind in (left, right)):
            return lambda left, right: apply(left, right)


for _sign, _instruction in {add: "fadd", sub: "fsub", mul: "fmul", truediv: "fdiv"}.items():
    _arithmetic(_sign, _instruction)


@intrinsic
def sum_of(_: Any, values: Any) -> Any:
    """The sum of all lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, number = context.get_value_type(values), context.get_value_type(values.dtype)
        name = f"llvm.vector.reduce.fadd.{_suffix(values)}"
        reduce = cgutils.get_or_insert_function(builder.module, ir.FunctionType(number, [number, vector]), name)
        return builder.call(reduce, [number(0.0), args[0]], fastmath=_FLAGS)

    return values.dtype(values), generate


@intrinsic
def sums_of(_: Any, values: Any, like: Any) -> Any:
    """As many sums as `like` has lanes, each of as many neighbouring ones."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, width = args[0], values.count // like.count
        while width > 1:  # the second half of every sum is added to the first
            width //= 2
            halves = [
                [(2 * n + half) * width + lane for n in range(like.count) for lane in range(width)] for half in (0, 1)
            ]
            total = builder.fadd(*(_chosen(builder, total, lanes) for lanes in halves), flags=_FLAGS)
        return total

    return like(values, like), generate


@intrinsic
def repeat(_: Any, values: Any, like: Any) -> Any:
    """As many lanes as `like` has: each of the values as often as it takes, one after the other."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _chosen(builder, args[0], [lane * values.count // like.count for lane in range(like.count)])

    return like(values, like), generate


@intrinsic
def where_positive(_: Any, values: Any, then: Any, otherwise: Any) -> Any:
    """Lane by lane the second where the first is positive, else the third."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        positive = builder.fcmp_ordered(">", args[0], context.get_value_type(values)(None))
        return builder.select(positive, args[1], args[2])

    return values(values, values, values), generate


def _chosen(builder: Any, vector: Any, lanes: list[int]) -> Any:
    """A vector of these lanes of another."""
    numbers = ir.VectorType(ir.IntType(32), len(lanes))
    return builder.shuffle_vector(vector, vector.type(ir.Undefined), numbers(lanes))


def _suffix(lanes: Lanes) -> str:
    """What LLVM calls them."""
    return f"v{lanes.count}f{lanes.dtype.bitwidth}"


def _first(builder: Any, many: Any, count: int) -> Any:
    """A mask of the first so many of all lanes."""
    numbers = ir.VectorType(many.type, count)
    return builder.icmp_unsigned("<", numbers(list(range(count))), _spread(builder, many, numbers))


def _spread(builder: Any, number: Any, vector: Any) -> Any:
    """A vector with the same number in all lanes."""
    first = builder.insert_element(vector(ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, vector(ir.Undefined), ir.VectorType(ir.IntType(32), vector.count)(None))


def _place(context: Any, builder: Any, kinds: Any, args: Any, lanes: Lanes) -> Any:
    """The address of an entry of a matrix, as that of a vector."""
    array, row, column = args
    matrix = context.make_array(kinds[0])(context, builder, array)
    stride = builder.extract_value(matrix.strides, 0)
    size = context.get_constant(types.uintp, kinds[0].dtype.bitwidth // 8)
    offset = builder.add(builder.mul(row, stride), builder.mul(column, size))
    start = builder.ptrtoint(matrix.data, offset.type)
    return builder.inttoptr(builder.add(start, offset), context.get_value_type(lanes).as_pointer())
