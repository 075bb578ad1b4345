"""Infinities that a program may mean, such as a mask of -inf: followed from op to op until their run is judged.

So is the NaN with which a program fills a variable that it has yet to write, or that such a variable still holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tfdbg_cli.capture.runs.eager.log.earlier_runs import EarlierRuns
from tfdbg_cli.capture.runs.eager.log.noted_ops import Noted, OutsideInput, Taken
from tfdbg_cli.capture.runs.eager.program.places import builds, program_at
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, line_at
from tfdbg_cli.capture.tf.compat import EagerTensor, dtype_number, host_array, tensor_id
from tfdbg_cli.capture.tf.types import OpInput
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.intended_infinities import MASKING
from tfdbg_cli.ops.kinds import PUTS_INTO, SELECTS

_MOST_KNOWN = 50_000
_HAND_ON = MASKING | PUTS_INTO | {"ReadVariableOp", "AssignVariableOp"}
_FILLS = SELECTS | {"Fill"}
_NAN = 0.0  # stands for NaN among the signs of infinities
_TURNS_SIGN = frozenset({"Neg", "Sub"})


class IntendedInfinities:
    """Knows the tensors whose bad elements the program wrote down or fed, and which ops have only handed on since.

    Whether they were meant is judged at the end of a run by what became of them (`analysis/origin/benign.py`). A line
    where they come up is new until a run with it was judged.
    """

    def __init__(self) -> None:
        self._tensors: set[int] = set()  # their ids
        self._before: set[int] = set()
        self._judged: set[tuple[str, int]] = set()  # files and lines
        self._met: set[tuple[str, int]] = set()

    def hands_on(self, op: Noted, inputs: Sequence[OpInput], outputs: Sequence[Taken]) -> bool:
        """Whether all non-finite elements of `outputs` are such infinities, handed on by `op`; if so, note it."""
        begins = builds(op.stack)
        if op.op_type not in _HAND_ON and not begins:
            return False
        signs: set[float] = set()
        for given, read in zip(inputs, op.reads, strict=True):
            held = self._held(given, made=isinstance(read, int), begins=begins, fills=op.op_type in _FILLS)
            if held is None:
                return False
            signs |= held
        gave = [_signs(np.asarray(value)) for _, _, value in outputs if value is not None]
        if any(each is None for each in gave):
            return False
        found = set().union(*(each for each in gave if each is not None))
        if op.op_type == "ReadVariableOp":  # its handle holds no numbers; what was written was judged at the update
            signs = found
        if not signs or not (op.op_type in _TURNS_SIGN or found <= signs):
            return False
        self._note(key for key, _, _ in outputs)
        return True

    def sets_variable(self, op: Noted, given: OpInput, earlier: EarlierRuns) -> bool:
        """Whether `op` writes infinities over a variable that are known here, or that no op computed.

        The latter are a number of Python's, or nothing but infinity in what came into the run from outside, where no
        `earlier` run gave it.
        """
        if op.op_type != "AssignVariableOp":
            return False
        signs, read = signs_of(given), op.reads[1]
        if not signs or not isinstance(read, OutsideInput):
            return bool(signs) and isinstance(read, int) and (read in self._tensors or read in self._before)
        return bool(np.isinf(np.asarray(given)).all()) and not earlier.behind({"": read.key})

    def is_new(self, stack: Stack) -> bool:
        """Whether the source line of the op with this stack is in no run that was judged; notes the line as met."""
        place = place_of_stack(stack)
        self._met.add(place)
        return place not in self._judged

    def judged(self) -> None:
        """Note that the run was shown or passed over: the lines met in it are not new any more."""
        self._judged |= self._met
        self._met.clear()

    def _held(self, given: OpInput, *, made: bool, begins: bool, fills: bool) -> set[float] | None:
        """The signs (-1.0, 1.0, `_NAN`) of what is bad in an input of an op; None where that looks like a fault.

        It looks intended in a tensor that is known here. In an input that no op `made`, a scalar may be either
        infinity, or NaN where an op `fills` a tensor, and an array may hold -inf alone, as a mask does. A
        variable `begins` with anything.
        """
        signs = _signs_given(given)
        if not signs:
            return signs
        if made:
            key = tensor_id(given)
            return signs if key in self._tensors or key in self._before else None
        if begins or signs == {-1.0}:
            return signs
        return signs if not np.ndim(given) and (fills or _NAN not in signs) else None

    def _note(self, keys: Iterable[int]) -> None:
        self._tensors.update(keys)
        if len(self._tensors) > _MOST_KNOWN:  # two generations are kept; the older one is dropped
            self._before, self._tensors = self._tensors, set()


def signs_of(given: OpInput) -> set[float] | None:
    """The signs (-1.0, 1.0) of the infinities in an input of an op; None if it holds NaN, or such as have no sign."""
    signs = _signs_given(given)
    return None if signs is None or _NAN in signs else signs


def _signs_given(given: OpInput) -> set[float] | None:
    if type(given) is EagerTensor:
        return set() if dtype_number(given) in HANDLE_NUMBERS else _signs(np.asarray(host_array(given)))
    if hasattr(given, "handle"):
        return set()  # a variable, whose update was looked at
    try:
        return _signs(np.asarray(given))
    except (TypeError, ValueError):
        return set()


def _signs(value: Array) -> set[float] | None:
    """The signs of the infinities in `value`, `_NAN` if it holds NaN; None if it holds infinities without a sign."""
    if value.dtype.kind not in "fcV":
        return set()
    try:
        bad = value[~np.isfinite(value)]
        return None if value.dtype.kind == "c" and bad.size else _signs_of(np.asarray(bad, np.float64))
    except TypeError:
        return None


def _signs_of(bad: Array) -> set[float] | None:
    return {float(sign) for sign in np.unique(np.sign(np.nan_to_num(bad, nan=_NAN)))}


def place_of_stack(stack: Stack) -> tuple[str, int]:
    """The file and the line of the program that an op with this stack belongs to."""
    inner = program_at(stack) or 0
    return stack[inner].co_filename, line_at(stack[inner], stack[inner + 1])
