"""An epsilon that was to keep a number away from 0, and was lost in rounding: 1 + 1e-8 is 1 in float32.

It is lost in one of four places: in an op that adds it to a number that is too large for it; in Python, which adds
literals before TensorFlow sees them (`1e-8 + 1 - p`); in TensorFlow's optimizer, which adds up constants first
(`1 - p + 1e-8`), and adds a constant to one of the terms (`v - u + 1e-8`); or where it becomes a constant of a dtype
that has no number so small (1e-8 is 0 in float16).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath

import numpy as np

from tfdbg_cli.analysis.causes.evidence import Evidence
from tfdbg_cli.analysis.causes.literals import TERM, code_of
from tfdbg_cli.analysis.causes.rewritten import IN_ORDER
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame, user_frame
from tfdbg_cli.model.values import Array, known_array
from tfdbg_cli.ops.kinds import MOVES, SUMS

# The input of an op that may not be 0.
_GUARDED = {
    "Log": 0, "Reciprocal": 0, "Inv": 0, "Rsqrt": 0, "SqrtGrad": 0, "RealDiv": 1, "Div": 1, "Xlogy": 1, "Xdivy": 1,
}  # fmt: skip
_BOUNDS = frozenset({"Maximum", "Minimum", "ClipByValue"})
_THROUGH = SUMS | _BOUNDS | MOVES | {"Identity", "Neg", "StopGradient", "EnsureShape", "CheckNumerics", "Sqrt"}
_WRITTEN = frozenset({"Const", "Cast", "Identity", "Placeholder"})  # a number that the program wrote, as it arrives
_MOST_OPS = 30
_LARGEST_EPSILON = 1e-2
_BOUND = "Bound the number rather than add to it, as by tf.maximum(x, {epsilon:g}): that is not moved."
_ADDED = re.compile(rf"(?<![\w.])({TERM})\s*([+-])\s*({TERM})(?![\w.])")
_BINDS_CLOSER = frozenset("*/%@")
_ADDED_BEFORE = frozenset("+-")  # Python adds from left to right


@dataclass(frozen=True)
class LostEpsilon:
    """An epsilon that is lost, as `text` shows it; where the program wrote it, if that is known.

    `too_small` says that the dtype does not hold it at all, rather than not beside a larger number. `helps` is what
    helps where that is something else than with other epsilons.
    """

    epsilon: float
    text: str
    frame: Frame | None
    too_small: bool = False
    helps: str = ""

    def told(self, dtype: str) -> str:
        """`the epsilon 1e-08 is lost: 1 + 1e-08 is 1 in float32 (train.py:5)`."""
        place = f" ({PurePath(self.frame.file).name}:{self.frame.line})" if self.frame is not None else ""
        return f"the epsilon {self.epsilon:g} is lost: {self.text} in {dtype}{place}"


@dataclass(frozen=True)
class _Sum:
    """An op behind the number that is 0: what it is, its inputs, the line that made it, and what it gave.

    `aligned` says that what made each element of that number stands at its place here.
    """

    op_type: str
    inputs: tuple[InputSeen, ...]
    frame: Frame | None
    gave: InputSeen
    aligned: bool


def lost_epsilon(
    run: Run, lineage: Lineage, inputs: Sequence[InputSeen], evidence: Evidence, *, rewritten: bool = False
) -> LostEpsilon | None:
    """The epsilon that was lost on the way to an input that is 0 and should not be; None where none was.

    Where the op is `rewritten`, the input was 0, whatever is shown of it.
    """
    position = _GUARDED.get(evidence.op_type)
    operand = None if position is None else evidence.operand(position)
    if position is None or operand is None or position >= len(inputs):
        return None
    behind = list(_behind(run, lineage, inputs[position]))
    if (operand == 0).any():
        ways: tuple[Callable[[_Sum], LostEpsilon | None], ...] = (
            partial(_in_op, evidence), partial(_in_python, run), partial(_in_dtype, run),
            partial(_in_another_order, run, lineage, evidence, False),
        )  # fmt: skip
        return next((found for way in ways for one in behind if (found := way(one)) is not None), None)
    found = None
    if evidence.op_type == "Log" and np.isneginf(evidence.outputs.real).any():  # it was 0, whatever the graph gave
        found = _in_optimizer(behind)
    if found is not None or not rewritten:
        return found
    orders = (_in_another_order(run, lineage, evidence, True, one) for one in behind)
    return next((found for found in orders if found is not None), None)


def _behind(run: Run, lineage: Lineage, item: InputSeen) -> Iterator[_Sum]:
    """The ops that `item` was made by, nearest first, as far as they add, bound or move."""
    waiting, met = [(item, True)], 0
    while waiting and met < _MOST_OPS:
        (current, aligned), met = waiting.pop(0), met + 1
        if current.index is None or current.node is None or current.node.op_type not in _THROUGH:
            continue
        node = lineage.node(current.index)
        if node is None:
            continue
        read = lineage.places(current.index)
        written = any(item.node is not None and item.node.op_type in _WRITTEN for item in read)
        if written and node.op_type in SUMS | _BOUNDS:  # values are read where there is something to look at
            frame = user_frame(run.tracebacks.get(node.name, ()))
            yield _Sum(node.op_type, tuple(lineage.inputs(current.index)), frame, current, aligned)
        waiting.extend((one, aligned and node.op_type not in MOVES) for one in read)


def _in_op(evidence: Evidence, one: _Sum) -> LostEpsilon | None:
    """An epsilon that an op adds to a number which stays what it is, where that made what is bad."""
    if one.op_type not in SUMS or len(one.inputs) != 2:
        return None
    sign = "-" if one.op_type == "Sub" else "+"
    for added, number in (one.inputs, one.inputs[::-1]):
        epsilon, value = _epsilon(added), _at_bad(number.value, evidence, one)
        if epsilon is None or value is None or value.dtype.kind == "c":
            continue
        small = np.asarray(epsilon, value.dtype)
        lost = (value != 0) & (value + small == value) & (value - small == value)
        if lost.any():
            held = float(np.max(np.abs(value[lost].astype(np.float64))))
            return LostEpsilon(epsilon, f"{held:g} {sign} {epsilon:g} is {held:g}", one.frame)
    return None


def _in_another_order(
    run: Run, lineage: Lineage, evidence: Evidence, is_shown: bool, one: _Sum
) -> LostEpsilon | None:
    """An epsilon that TensorFlow's optimizer added to a term of the number to which the program adds it.

    With `is_shown` the sum is shown as the program has it, else as it was: then it is not what its inputs give.
    """
    if one.op_type not in SUMS or len(one.inputs) != 2 or one.gave.index is None or not one.aligned:
        return None
    gave = _at_bad(known_array(run.tensors.value(one.gave.index)), evidence, one)
    for added, number in (one.inputs, one.inputs[::-1]):
        epsilon, value = _epsilon(added), _at_bad(number.value, evidence, one)
        if epsilon is None or gave is None or value is None or value.dtype.kind == "c" or number.index is None:
            continue
        if not is_shown and ((value != 0) | (gave != 0)).any():
            continue
        node = lineage.node(number.index)
        terms = lineage.inputs(number.index) if node is not None and node.op_type in SUMS else []
        for term in terms:
            held = _at_bad(term.value, evidence, one)
            if held is None or not ((held != 0) & (held + np.asarray(epsilon, held.dtype) == held)).all():
                continue
            large = float(np.max(np.abs(held.astype(np.float64))))
            told = f"TensorFlow's optimizer adds it to {term.name} first, and {large:g} + {epsilon:g} is {large:g}"
            return LostEpsilon(epsilon, told, one.frame, helps=f"{_BOUND.format(epsilon=epsilon)} {IN_ORDER}")
    return None


def _at_bad(value: Array | None, evidence: Evidence, one: _Sum) -> Array | None:
    """The elements of `value` that made what is bad; all where that is not known."""
    if value is None or not one.aligned or not value.ndim:
        return value
    rank = evidence.places.shape[1]
    if value.ndim > rank:
        return value
    axes = [rank - value.ndim + axis for axis in range(value.ndim)]
    limits = np.array(value.shape) - 1
    places = evidence.places[:, axes]
    if ((places > limits) & (limits > 0)).any():
        return value
    found: Array = value[tuple(np.minimum(places, limits).T)]
    return found


def _in_optimizer(behind: Sequence[_Sum]) -> LostEpsilon | None:
    """An epsilon that is added to a constant, which TensorFlow's optimizer does before all else."""
    constants = [(value, item, one) for one in behind if one.op_type in SUMS for item in one.inputs
                 if (value := _constant(item)) is not None]  # fmt: skip
    for epsilon, item, one in constants:
        for other, _, _ in constants:
            kind = item.value.dtype.type if item.value is not None else np.float32
            if 0 < abs(epsilon) < abs(other) and kind(other) + kind(epsilon) == kind(other):
                text = f"TensorFlow's optimizer adds up constants first, and {other:g} + {epsilon:g} is {other:g}"
                return LostEpsilon(epsilon, text, one.frame)
    return None


def _in_python(run: Run, one: _Sum) -> LostEpsilon | None:
    """An epsilon that a line of the program adds to a literal, so that what TensorFlow was given lacks it."""
    if one.frame is None:
        return None
    given = [item.value for item in one.inputs if _constant(item) is not None and item.value is not None]
    code = code_of(run, one.frame)
    for match in _ADDED.finditer(code.text):
        before, behind = code.text[: match.start()].rstrip()[-1:], code.text[match.end() :].lstrip()[:1]
        if {before, behind} & _BINDS_CLOSER or before in _ADDED_BEFORE:
            continue
        first, second = code.number(match[1]), code.number(match[3])
        if first is None or second is None:
            continue
        total, small = first + second if match[2] == "+" else first - second, min(abs(first), abs(second))
        large = first if abs(first) > abs(second) else second if match[2] == "+" else -second
        for value in given:
            kind = value.dtype.type
            if 0 < small <= _LARGEST_EPSILON and kind(total) == kind(large) == value.reshape(-1)[0]:
                return LostEpsilon(small, f"{match[0].strip()} is {large:g}", one.frame)
    return None


def _in_dtype(run: Run, one: _Sum) -> LostEpsilon | None:
    """An epsilon in the line of an op that was given 0 for it, since the dtype has no number so small."""
    given = next((item.value for item in one.inputs if _constant(item) == 0 and item.value is not None), None)
    if given is None or one.frame is None:
        return None
    small = (number for number in code_of(run, one.frame).numbers if 0 < number <= _LARGEST_EPSILON)
    lost = next((number for number in small if given.dtype.type(number) == 0), None)
    return None if lost is None else LostEpsilon(lost, "it is 0", one.frame, too_small=True)


def _epsilon(item: InputSeen) -> float | None:
    value = _constant(item)
    return abs(value) if value is not None and 0 < abs(value) <= _LARGEST_EPSILON else None


def _constant(item: InputSeen) -> float | None:
    """The number that `item` is, if the program wrote one: a scalar that is a constant."""
    value: Array | None = item.value
    if value is None or value.size != 1 or not is_inexact(value.dtype) or value.dtype.kind == "c":
        return None
    if item.node is None or item.node.op_type not in _WRITTEN:
        return None
    return float(value.reshape(-1)[0])
