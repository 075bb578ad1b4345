"""Which ops cannot hide a NaN or an infinity: what goes in must come out.

An input of an op is *transparent* when a NaN or infinite element in it certainly makes an output of the op hold one,
and a NaN makes it hold a NaN. Then the input need not be checked if the output is. When in doubt an op is not in the
table. Every row is tested with its kernel (tests/ops/test_transparent_kernels.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from tfdbg_cli.ops import kinds
from tfdbg_cli.ops import transparent_shapes as shapes
from tfdbg_cli.ops.folding import Constant
from tfdbg_cli.ops.transparent_shapes import Shape

FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
COMPLEX = frozenset({"complex64", "complex128"})
FLOAT8 = frozenset({
    "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz",
})  # fmt: skip
NUMBERS = FLOATS | COMPLEX
CHECKABLE = NUMBERS | FLOAT8
"""The dtypes that can hold a NaN."""


class Operand(NamedTuple):
    """A tensor that an op reads or gives, as far as it is known before the run.

    `shape` is None when not even the rank is known, and a dimension None when its length is not. `constant` is what
    the optimizer may take it for (folding.py). Operands with the same `source` hold the same value.
    """

    dtype: str
    shape: Shape = None
    constant: Constant | None = None
    source: object = None


@dataclass(frozen=True, slots=True)
class OpUse:
    """One op with its data inputs. `attribute` gives an attribute as a Python value, or None.

    `output` gives the output in a slot, of `width`; asked when it is wanted, since few rows of the table look at one.
    """

    op_type: str
    inputs: Sequence[Operand]
    width: int
    output: Callable[[int], Operand]
    attribute: Callable[[str], Any]


Condition: TypeAlias = Callable[[OpUse, int], bool]


@dataclass(frozen=True, slots=True)
class Clear:
    """A kind of op. `positions` are its transparent inputs (-1: all of them), where they have one of `dtypes`.

    `slots` are the outputs that together show what went in (None: all of them). `keeps` says that every element of
    the input is in them but for its sign, so that an infinity stays one. `when` must hold besides.
    """

    ops: Collection[str]
    why: str
    positions: tuple[int, ...] = (0,)
    dtypes: frozenset[str] = NUMBERS
    keeps: bool = False
    when: Condition | None = None
    slots: tuple[int, ...] | None = (0,)


def _broadcast(use: OpUse, position: int) -> bool:
    """The other operand cannot make the result empty."""
    return shapes.broadcast_stays(use.inputs[position].shape, use.inputs[1 - position].shape)


def _distinct(use: OpUse, position: int) -> bool:
    """`x - x` could be computed as 0."""
    first, second = use.inputs[0].source, use.inputs[1].source
    return _broadcast(use, position) and (first is None or first != second)


def _factor(use: OpUse, position: int) -> bool:
    """The other factor is no constant that could be zero, or become so when constants are multiplied."""
    return _broadcast(use, position) and _no_zeros(use.inputs[1 - position])


def _numerator(use: OpUse, position: int) -> bool:
    """The denominator is no constant so large that its reciprocal is zero."""
    return _distinct(use, position) and _not_huge(use.inputs[1])


def _no_zeros(operand: Operand) -> bool:
    low, high = _SAFE[operand.dtype in {"float16", "bfloat16"}]
    found = operand.constant
    return found is None or (low <= found.smallest and found.largest <= high)


def _not_huge(operand: Operand) -> bool:
    return operand.constant is None or operand.constant.largest <= _SAFE[operand.dtype in {"float16", "bfloat16"}][1]


def _not_all_zeros(operand: Operand) -> bool:
    return operand.constant is None or operand.constant.largest >= _SAFE[False][0]


# Several constants in this range, multiplied, are not zero or infinite in float32 (first) and in float16 (second).
_SAFE = ((2.0**-24, 2.0**24), (2.0**-5, 2.0**5))


def _product(use: OpUse, position: int) -> bool:
    """The other matrix has columns (rows), and is no constant of zeros."""
    first = "transpose_a" if use.op_type == "MatMul" else "adj_x"
    second = "transpose_b" if use.op_type == "MatMul" else "adj_y"
    other = use.inputs[1 - position]
    swapped = bool(use.attribute(second if position == 0 else first))
    return _not_all_zeros(other) and shapes.product_stays(
        use.inputs[position].shape, other.shape, free=-2 if (position == 0) == swapped else -1
    )


def _einsum(use: OpUse, position: int) -> bool:
    """No index of the other operand alone can have length 0, and the operand gives no mere diagonal."""
    equation = use.attribute("equation")
    others = [operand for at, operand in enumerate(use.inputs) if at != position]
    if not equation or len(use.inputs) > 2 or not all(map(_not_all_zeros, others)):
        return False
    return shapes.einsum_stays(str(equation), position, [operand.shape for operand in use.inputs])


def _convolution(use: OpUse, position: int) -> bool:
    """Every element is in a window, and every window meets the image."""
    if not _not_all_zeros(use.inputs[1]) or not _not_all_zeros(use.inputs[0]):
        return False
    window = shapes.Window.of(use.attribute, use.inputs[1].shape)
    image, out = use.inputs[0].shape, use.output(0).shape
    if window is None:
        return False
    if position == 0:
        return window.covers(image) and shapes.positive(window.channels(out))
    return window.taps_meet(image) and shapes.all_positive(out)


def _convolved_gradient(use: OpUse, position: int) -> bool:
    """Every element of the gradient meets a filter that has channels."""
    sizes = use.inputs[1].shape if use.op_type.endswith("Input") else use.output(0).shape
    window = shapes.Window.of(use.attribute, sizes)
    return window is not None and window.inside and sizes is not None and shapes.all_positive(sizes)


def _pooling(use: OpUse, position: int) -> bool:
    """Every element is in a window."""
    window = shapes.Window.of_pool(use.attribute)
    return window is not None and window.covers(use.inputs[0].shape)


def _pooled_gradient(use: OpUse, position: int) -> bool:
    """The windows overlap the image."""
    return shapes.Window.of_pool(use.attribute) is not None


def _widened(use: OpUse, position: int) -> bool:
    """The result has no dimension of length 0."""
    return shapes.all_positive(use.output(0).shape)


def _normalized(use: OpUse, position: int) -> bool:
    """The factors, should they be computed before the run, are not zero."""
    scale, variance = use.inputs[1], use.inputs[4]
    return _no_zeros(scale) and _not_huge(variance)


def _inclusive(use: OpUse, position: int) -> bool:
    """The last element is counted."""
    return use.attribute("exclusive") is False


def _to_wide(use: OpUse, position: int) -> bool:
    """To a type that has NaN, and from complex only to complex."""
    source, target = use.inputs[0].dtype, use.output(0).dtype
    return target in NUMBERS and (source not in COMPLEX or target in COMPLEX)


def _same_shape(use: OpUse, position: int) -> bool:
    """The operands do not broadcast, or not to nothing."""
    return all(
        shapes.broadcast_stays(use.inputs[position].shape, other.shape)
        for at, other in enumerate(use.inputs)
        if at != position
    )


ROWS: tuple[Clear, ...] = (
    Clear(
        kinds.SAME_ELEMENTS | kinds.CHECKS | {"SpaceToDepth", "DepthToSpace"},
        "the elements are copied", dtypes=CHECKABLE, keeps=True,
    ),
    Clear(("Pad", "PadV2", "MirrorPad", "SpaceToBatchND", "MatrixDiag", "Diag"),
        "the elements are copied, others are added", keeps=True),
    Clear(kinds.REPEATS, "the elements are copied, unless no times", keeps=True, when=_widened),
    Clear(kinds.JOINS, "the elements are copied", positions=(-1,), dtypes=CHECKABLE, keeps=True),
    Clear(("Split",), "every element is in one of the parts", positions=(1,), keeps=True, slots=None),
    Clear(("SplitV", "Unpack"), "every element is in one of the parts", keeps=True, slots=None),
    Clear(kinds.SIGNS, "the sign changes, and nothing else", dtypes=FLOATS, keeps=True),
    Clear(("Neg", "Conj", "ConjugateTranspose"), "the sign changes, and nothing else", dtypes=COMPLEX, keeps=True),
    Clear(("Cast",), "NaN and infinities stay; in an 8 bit type infinities can become NaN",
        dtypes=NUMBERS | {"float8_e5m2", "float8_e4m3fn"}, when=_to_wide),
    Clear(("Square",), "the square of an infinity is infinite, complex ones are NaN"),
    Clear(("Floor", "Ceil", "Rint", "Round"), "an infinity is its own floor", dtypes=FLOATS),
    Clear(("Sqrt", "Log", "Log1p"), "infinite at +inf, NaN at -inf", dtypes=FLOATS),
    Clear(("Sin", "Cos", "Tan"), "NaN at infinities", dtypes=FLOATS - {"float16", "bfloat16"}),
    Clear(("ComplexAbs",), "the magnitude of what is not finite is not finite", dtypes=COMPLEX),
    Clear(kinds.ADDITIONS, "a sum with NaN is NaN, with an infinity infinite or NaN", positions=(0, 1),
        when=_broadcast),
    Clear(("Sub",), "a difference with NaN is NaN, with an infinity infinite or NaN", positions=(0, 1),
        when=_distinct),
    Clear(("SquaredDifference",), "the difference is not finite, and its square neither", positions=(0, 1),
        dtypes=FLOATS, when=_distinct),
    Clear(kinds.LONG_SUMS, "a sum with NaN is NaN, with an infinity infinite or NaN", positions=(-1,)),
    Clear(("BiasAdd",), "a sum with NaN is NaN, with an infinity infinite or NaN"),
    Clear(("Mul",), "infinite or NaN, 0·inf included", positions=(0, 1), when=_factor),
    Clear(kinds.QUOTIENTS, "infinite or NaN, inf/inf included; a denominator can make it 0", dtypes=FLOATS,
        when=_numerator),
    Clear(kinds.ADDED_UP, "every element is in one of the sums", dtypes=NUMBERS),
    Clear(("Prod",), "every element is in one of the products, 0·inf is NaN", dtypes=FLOATS),
    Clear(("Cumsum",), "the element itself is in the sum", dtypes=FLOATS, when=_inclusive),
    Clear(("L2Loss",), "half the sum of all squares", dtypes=FLOATS),
    Clear(("BiasAddGrad",), "every element is in one of the sums", dtypes=FLOATS),
    Clear(("LogSoftmax",), "an infinite logit stays infinite or becomes NaN", dtypes=FLOATS),
    Clear(kinds.MATMULS, "every element is in a sum of products",
        positions=(0, 1), when=_product),
    Clear(("Einsum",), "every element is in a sum of products", positions=(0, 1), when=_einsum),
    Clear(("Conv2D",), "every element is in a sum of products", positions=(0, 1), dtypes=FLOATS, when=_convolution),
    Clear(("DepthwiseConv2dNative",), "every element is in a sum of products", dtypes=FLOATS, when=_convolution),
    Clear(("Conv2DBackpropFilter",), "every element is in a sum of products", positions=(2,), dtypes=FLOATS,
        when=_convolved_gradient),
    Clear(("Conv2DBackpropInput",), "every element is in a sum of products", positions=(2,), dtypes=FLOATS,
        when=_convolved_gradient),
    Clear(("AvgPool",), "every element is in a mean", dtypes=FLOATS, when=_pooling),
    Clear(("AvgPoolGrad",), "every element is in a sum", positions=(1,), dtypes=FLOATS, when=_pooled_gradient),
    Clear(kinds.NORMALIZATIONS,
        "an element minus the mean of its channel is not finite", dtypes=FLOATS - {"float64"}, when=_normalized),
    Clear(kinds.NORMALIZATION_GRADIENTS,
        "the gradient of the offset is the sum of all", dtypes=FLOATS - {"float64"}, slots=(2,)),
    Clear(kinds.SLOPES, "the gradient dy is a factor, and so is a function of y", positions=(1,),
        dtypes=FLOATS, when=_same_shape),
    Clear(("SqrtGrad",), "dy is the numerator", positions=(1,), dtypes=FLOATS, when=_same_shape),
    Clear(("RsqrtGrad", "ReciprocalGrad", "InvGrad"), "a product of dy and a power of y; a dy of 0 hides y",
        positions=(1,), dtypes=FLOATS, when=_same_shape),
)  # fmt: skip


def _by_op() -> Mapping[str, tuple[Clear, ...]]:
    found: dict[str, tuple[Clear, ...]] = {}
    for row in ROWS:
        for op in row.ops:
            found[op] = (*found.get(op, ()), row)
    return MappingProxyType(found)


_BY_OP = _by_op()


def is_transparent(op_type: str) -> bool:
    """Whether an op of that type may have a transparent input."""
    return op_type in _BY_OP


def covering(use: OpUse, position: int, *, keeping: bool = False) -> tuple[int, ...]:
    """The output slots of which one is certainly not finite when the input at `position` is not; () if none.

    When the input holds a NaN, so does one of them. With `keeping` an infinity must stay an infinity, too.
    """
    row = row_of(use, position)
    if row is None or (keeping and not row.keeps):
        return ()
    return row.slots if row.slots is not None else tuple(range(use.width))


def row_of(use: OpUse, position: int) -> Clear | None:
    """The row that says that the input of `use` at `position` is transparent; None when it is not."""
    operand = use.inputs[position]
    for row in _BY_OP.get(use.op_type, ()):
        if operand.dtype not in row.dtypes or not (position in row.positions or row.positions == (-1,)):
            continue
        if row.when is None or row.when(use, position):
            return row
    return None
