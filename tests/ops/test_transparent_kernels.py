"""Every row of the table of transparent ops holds for the kernels of TensorFlow, for each dtype it may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
import pytest
import tensorflow as tf
from support.lone_op import Case, F, cases, dtype_name, inputs_of, lone_function, outputs_of, plants

from tfdbg_cli.capture.functions.definition.body import attribute_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.ops.transparency import CHECKABLE, NUMBERS, ROWS, Operand, OpUse, covering, row_of

pytestmark = pytest.mark.tf

Run: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]
_MISSING = (tf.errors.NotFoundError, tf.errors.InvalidArgumentError, tf.errors.UnimplementedError)
_FNUZ = ("float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz")
_EIGHT = ("float8_e4m3fn", "float8_e5m2", *_FNUZ)
# TensorFlow has no kernel for these on the CPU.
_NO_KERNEL = {
    ("BatchMatMulV3", "float16"), ("Diag", "bfloat16"), ("Rint", "bfloat16"), ("Rint", "float16"),
    ("FusedBatchNorm", "bfloat16"), ("FusedBatchNorm", "float16"), ("FusedBatchNormGrad", "bfloat16"),
    ("FusedBatchNormGrad", "float16"), ("SpaceToBatchND", "complex64"), ("SpaceToBatchND", "complex128"),
    *((op, dtype) for op in ("DepthToSpace", "SpaceToDepth", "Reverse", "ReverseV2", "Snapshot", "Roll", "Squeeze",
                             "Transpose", "EnsureShape") for dtype in _EIGHT),
    *((op, dtype) for op in ("ConcatV2", "Pack", "Transpose") for dtype in _FNUZ),
}  # fmt: skip
_MADE_OF_OTHERS = {"AccumulateNV2"}  # has no kernel; other ops take its place when a function is compiled
_OPTIMIZED = ("float32", "float16", "complex64")
_OPS = sorted({op for row in ROWS for op in row.ops})


@cache
def _by_op() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in cases():
        found.setdefault(case.op, []).append(case)
    return found


@cache
def _dtypes() -> frozenset[str]:
    """The types to try: all that may be checked, but for those that this TensorFlow makes no tensors of, as 2.16."""
    missing = set()
    for name in _FNUZ:
        element = element_type_named(name)
        assert element is not None
        try:
            tf.constant(np.zeros((), element.numpy))
        except (TypeError, ValueError):
            missing.add(name)
    return CHECKABLE - missing


def _targets(case: Case, dtype: str) -> list[str]:
    """The types that the op of `case` gives, where it can give several."""
    if case.op == "Cast":
        return sorted(_dtypes() - {dtype})
    if case.op == "ComplexAbs":
        return ["float32" if dtype == "complex64" else "float64"]
    return [""]


def _finite(value: Any) -> Any:
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return array if array.dtype.kind in "biufc" else array.astype(np.float32)


@pytest.mark.parametrize(
    ("op", "every"),
    [pytest.param(op, every, id=op + " in every dtype" * every, marks=[pytest.mark.slow] * every)
     for op in _OPS for every in (False, True)],
)  # fmt: skip
def test_what_is_not_finite_shows_in_the_output(op: str, every: bool) -> None:
    """Unless `every`, the first case is tried in every dtype, others in a few and, in turn, in one more.

    The graph optimizer is then asked of all cases in float32, and of the first one in other dtypes.
    """
    tried: Counter[tuple[str, str]] = Counter()
    dtypes = sorted(_dtypes())
    for number, case in enumerate(_by_op()[op]):
        for dtype in dtypes if every or not number else sorted({*_OPTIMIZED, dtypes[number % len(dtypes)]}):
            for target in _targets(case, dtype):
                asked = dtype in _OPTIMIZED and (every or not number or dtype == "float32")
                for optimized in (False, True) if asked else (False,):
                    _try(case, dtype, target, optimized, number, tried)
    for row in ROWS:
        if op in row.ops and op != "CheckNumerics":  # which raises
            needed = row.dtypes & _dtypes()
            missing = [dtype for dtype in needed if not tried[op, dtype] and (op, dtype) not in _NO_KERNEL]
            assert not missing, f"no kernel of {op} was tried with {missing}"


def _try(case: Case, dtype: str, target: str, optimized: bool, seed: int, tried: Counter[tuple[str, str]]) -> None:
    arrays = inputs_of(case, dtype, seed)
    floats = [at for at, given in enumerate(case.inputs) if not isinstance(given, np.ndarray)]
    made = _function(case, dtype, target, arrays, optimized)
    if made is None:
        return
    run, use = made
    for position in floats:
        slots = covering(use, position)
        if not slots:
            continue
        row = row_of(use, position)
        assert row is not None
        for others in (arrays, _zeros_but(arrays, position, floats)) if len(floats) > 1 else (arrays,):
            given = [tf.constant(other) for other in others]
            for bad, array in plants(others[position], few=optimized or others is not arrays):
                given[position] = tf.constant(array)
                values = _run(run, given)
                if values is None:
                    return
                shown = [_finite(values[slot]) for slot in slots]
                if not _shows(bad, shown, keeps=row.keeps and np.isinf(_finite(array)).any()):
                    where = f"{case.op} {dtype}->{target} input {position} holds {bad}"
                    raise AssertionError(f"{where}: {given} gives {shown}")
                tried[case.op, dtype] += 1


def _shows(bad: float, shown: Sequence[Any], *, keeps: bool) -> bool:
    """Whether the outputs `shown` tell of a `bad` input: by a NaN of a NaN, and of an infinity if the op `keeps` it.

    Some 8 bit types have no infinity.
    """
    if np.isnan(bad):
        return any(np.isnan(value).any() for value in shown)
    if keeps:
        return any(np.isinf(value).any() for value in shown)
    return any(not np.isfinite(value).all() for value in shown)


def _zeros_but(arrays: Sequence[Any], position: int, floats: Sequence[int]) -> list[Any]:
    """The same with zeros for all other floats: what a product might hide behind."""
    return [np.zeros_like(array) if at in floats and at != position else array for at, array in enumerate(arrays)]


def _run(run: Run, given: Sequence[Any]) -> Sequence[Any] | None:
    """What `run` gives; None when there is no kernel, or it raises on purpose."""
    try:
        return run(given)
    except _MISSING:
        return None


def _alone(node: Any, count: int) -> Run:
    """Runs the op of `node` by itself: the kernel that a function would run, but a function is slow to compile."""
    attributes: list[Any] = []
    for key in node.attr:
        value = attribute_of(node, key)
        attributes += [key, [dim.size for dim in value.dim] if hasattr(value, "dim") else value]
    return lambda inputs: compat.run_op(node.op, inputs, attributes, count, "")


def _function(
    case: Case, dtype: str, target: str, arrays: Sequence[Any], optimized: bool
) -> tuple[Run, OpUse] | None:
    """What runs the op, in a function of its own where something is to be `optimized`; and how it is used there."""
    constants = [tf.constant(array) for array in arrays]
    try:
        name = lone_function(case, dtype, constants, target, optimized)
        definition = compat.function_definition(name)
        node, count = definition.node_def[0], len(definition.signature.output_arg)
        in_function = optimized or case.op in _MADE_OF_OTHERS
        run = partial(outputs_of, name, count) if in_function else _alone(node, count)
        values = run(constants)
    except (*_MISSING, tf.errors.InternalError):
        return None
    own = values[: len(values) - 1] if optimized else values
    inputs, outputs = (
        [Operand(dtype_name(value.dtype.as_datatype_enum), tuple(value.shape.as_list())) for value in values]
        for values in (constants, own)
    )
    use = OpUse(
        case.op,
        inputs,
        len(outputs),
        outputs.__getitem__,
        lambda attribute: attribute_of(node, attribute),
    )
    return run, use


def test_what_could_be_folded_or_empty_is_not_trusted() -> None:
    from tfdbg_cli.ops.folding import UNREAD, Constant

    def use(op: str, inputs: Sequence[Operand], **attributes: Any) -> OpUse:
        return OpUse(op, inputs, 1, [Operand("float32")].__getitem__, attributes.get)

    known, unknown = Operand("float32", (2, 3)), Operand("float32", (None, 3))
    assert covering(use("AddV2", [known, known]), 0) == (0,)
    assert covering(use("AddV2", [known, unknown]), 0) == (0,)  # 2 against an unknown length: not 0
    assert covering(use("AddV2", [Operand("float32", (1, 3)), unknown]), 0) == ()
    assert covering(use("AddV2", [known, Operand("float32")]), 0) == ()
    zeros = Operand("float32", (2, 3), Constant(0.0, 0.0))
    some = Operand("float32", (2, 3), Constant(0.0, 1.0))
    half = Operand("float32", (2, 3), Constant(0.5, 0.5))
    for hidden in (zeros, some, Operand("float32", (2, 3), UNREAD)):
        assert covering(use("Mul", [known, hidden]), 0) == ()
    assert covering(use("Mul", [known, half]), 0) == (0,)
    assert covering(use("MatMul", [known, Operand("float32", (3, 0))]), 0) == ()
    assert covering(use("MatMul", [known, Operand("float32", (3, 2), Constant(0.0, 0.0))]), 0) == ()
    assert covering(use("MatMul", [unknown, Operand("float32", (3, 2))]), 1) == ()  # no rows, perhaps
    same = Operand("float32", (2, 3), source="x")
    assert covering(use("Sub", [same, same]), 0) == ()
    assert covering(use("RealDiv", [known, Operand("float32", (2, 3), Constant(1e30, 1e30))]), 0) == ()
    assert F and NUMBERS < CHECKABLE
