"""Variables that eager ops update: their values after each update, noted and looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdbg_cli.capture.runs.eager.checks import Checks
from tfdbg_cli.capture.runs.eager.intended_infinities import signs_of
from tfdbg_cli.capture.runs.eager.log.held_values import variable_value
from tfdbg_cli.capture.runs.eager.log.noted_ops import LATER, RESOURCE, Noted
from tfdbg_cli.capture.runs.eager.section import Section
from tfdbg_cli.capture.state.writing_threads import WRITING_THREADS
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.compat import EagerTensor, dtype_number, tensor_id
from tfdbg_cli.capture.tf.types import OpInput
from tfdbg_cli.model.values import NoValue, Value
from tfdbg_cli.ops.kinds import WRITES_IN_PART, WRITES_OVER

_MOST_VARIABLES = 50_000  # whose types are known


class VariableUpdates:
    """Notes the updates of variables in the log of the section that made them."""

    def __init__(self) -> None:
        self._types: dict[int, int] = {}  # the numbers of the element types of variables, by the ids of their handles

    def note(self, section: Section, checks: Checks | None, op: Noted, given: Sequence[OpInput]) -> bool:
        """Look at the variables that `op` updated and note their values; returns whether the watch finds one bad.

        Where only what comes out of the program counts, the first value of a variable does not: to begin with an
        infinity, as the best loss so far does, harms nothing. Neither does it in sessions and functions. Nor does an
        infinity that the program writes down to set it back, or what was in the variable before where finite numbers
        are put into a part of it. The first value is no update: it is noted only where it is bad.
        """
        WRITING_THREADS.wrote()
        found = checks is not None and checks.bad_update(op, given)
        of_updates = checks is not None and checks.of_updates
        begins = _begins(op, section)
        if found and of_updates and (begins or _is_set_back(op, given)):
            checks, found = None, False
        in_part = of_updates and not found and op.op_type in WRITES_IN_PART
        for handle in given:
            if type(handle) is EagerTensor and dtype_number(handle) == RESOURCE:
                dtype = self._type_in(handle)
                if not dtype:
                    continue
                value: Value = LATER
                bad = False
                asked = checks if checks is not None and checks.at_ops else None
                if asked is None or not asked.settled(op, given, dtype):
                    value = variable_value(handle, dtype)
                    if asked is not None and not isinstance(value, NoValue):
                        bad = asked.bad_variable(op, given, handle, value) and not in_part
                if begins and not bad:
                    section.log.wrote_unseen(op, [handle])
                else:
                    section.log.wrote(op, handle, value, keep=bad)
                    section.name_made(handle)
                found = found or bad
        return found

    def _type_in(self, handle: EagerTensor) -> int | None:
        """The number of the element type of the variable; None where the handle is none's, or does not say."""
        key = tensor_id(handle)
        known = self._types.get(key)
        if known is None:
            known = compat.type_in_variable(handle)
            if known:
                if len(self._types) > _MOST_VARIABLES:
                    self._types.clear()
                self._types[key] = known
        return known


def _is_set_back(op: Noted, given: Sequence[OpInput]) -> bool:
    """Whether all that is bad in what is written over a variable are infinities that the program wrote down.

    Those are no result of an op. An array is nothing but infinity then, or holds -inf alone, as scores do.
    """
    if op.op_type not in WRITES_OVER:
        return False
    for one, read in zip(given, op.reads, strict=True):
        signs = signs_of(one)
        if signs is None or (signs and isinstance(read, int)):
            return False
        if signs and signs != {-1.0} and not np.isinf(np.asarray(one)).all():
            return False
    return True


def _begins(op: Noted, section: Section) -> bool:
    """Whether `op`, in the log of `section`, gives a variable that was made there its first value."""
    if op.op_type != "AssignVariableOp":
        return False
    handle = op.reads[0]
    if not isinstance(handle, int) or section.log.updates.is_updated(handle):
        return False
    made = section.log.maker(handle)
    return made is not None and made[0].op_type == "VarHandleOp"
