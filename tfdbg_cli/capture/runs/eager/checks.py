"""The question of a watch, asked of each value that an eager op gives."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.analysis.watch.datum import TensorDatum
from tfdbg_cli.analysis.watch.filter import Among, Bad
from tfdbg_cli.analysis.watch.filters import our_filter
from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.capture.runs.eager.ignored_ops import IgnoredOps
from tfdbg_cli.capture.runs.eager.intended_infinities import IntendedInfinities
from tfdbg_cli.capture.runs.eager.log.earlier_runs import EarlierRuns
from tfdbg_cli.capture.runs.eager.log.noted_ops import RESOURCE, Noted, Taken, attribute
from tfdbg_cli.capture.runs.eager.program.choices import is_chosen_from
from tfdbg_cli.capture.runs.eager.program.places import builds
from tfdbg_cli.capture.tf.compat import EagerTensor, dtype_number, host_array, tensor_id
from tfdbg_cli.capture.tf.types import OpInput
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import INCREMENTS, WRITES_IN_PART
from tfdbg_cli.ops.norms import FAR_FROM_OVERFLOW, PASSED_ON, RULES, Norm
from tfdbg_cli.ops.undefined_outputs import is_undefined

_RULES = dict(RULES)  # looked up for each op, in a plain dict, which takes half the time of a read-only view
# Ops whose output has no larger norm than their input, so that even small outputs need not be looked at.
_HANDING_ON = frozenset(op_type for op_type, rule in RULES.items() if rule is PASSED_ON) | {"ReadVariableOp"}
_INFINITE, _root = math.inf, math.sqrt
# Dtypes, by number, whose elements are always finite.
_EXACT = frozenset(
    dtype.as_datatype_enum
    for dtype in (
        tf.bool, tf.string, tf.resource, tf.variant, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
        tf.uint32, tf.uint64,
    )
)  # fmt: skip
_MOST_KNOWN = 50_000
_FEW = 2_000  # norms that are kept from run to run; so few take little of a processor's cache
_SIMPLE_UPDATES = INCREMENTS | {"AssignVariableOp"}
_MOST_UNSEEN = 16
_dot = getattr(np.vdot, "__wrapped__", np.vdot)  # without NumPy's dispatch to arrays of other libraries
_FLOATS = "fc"
_NUMBERS = "fd"  # NumPy's characters for float32 and float64, the real dtypes that BLAS has kernels for
_WIDE = frozenset({tf.float32.as_datatype_enum, tf.float64.as_datatype_enum})
_SMALL = 1 << 16  # elements up to which looking at a tensor takes no more time than computing a bound
# A norm in float32 is not exact: sums of very many squares stay too small, and squares below 1e-38 are lost.
_INEXACT, _LEAST = 4.0, 1e-12


class Checks:
    """Asks the question of one watch. Bounds of norms show most tensors to be finite, so that few are looked at."""

    def __init__(self, watched: WatchRequest) -> None:
        self.watched = watched
        ours = our_filter(watched.tensor_filter)
        among, finds = (Among.ALL, Bad.NONE) if ours is None else (ours.among, ours.finds)
        # Filters that need the whole run, its graph and its order are asked at its end instead.
        self.at_ops = ours is None or not (ours.compares or among is Among.GRADIENTS)
        # Whether the filter looks for numbers that are wrong anywhere, as NaN is. Any other filter is asked of runs
        # only, and not of what a program prepares for them.
        self.anywhere = finds is not Bad.NONE
        # Whether bad values count only where they reach a variable.
        self.of_updates = among is Among.OUTCOME
        self._finite_only = finds is Bad.EITHER
        self._of_each = self.at_ops and self._finite_only and not self.of_updates
        self._excluded = re.compile(watched.exclude_node_names).search if watched.exclude_node_names else None
        # Of finite values, by the ids of tensors and of handles of variables; asked with any other object, too.
        self._norms: dict[object, Norm] = {}
        self._before: dict[object, Norm] = {}
        self._unseen: dict[int, int] = {}  # by the id of a variable's handle: updates since its value was looked at
        self._failed = False
        self.intended = IntendedInfinities() if watched.skips_intended else None
        self.ignored = IgnoredOps(watched.by_hand, lambda given: not self.out_of_fine([given]))

    @property
    def finds_all(self) -> bool:
        """Whether it finds each NaN and each infinity: none is left out, or counts as fine."""
        left_out = self._excluded is not None or self.ignored or self.watched.ignored
        return self._of_each and not left_out

    def bad(self, op: Noted, inputs: Sequence[OpInput], outputs: Sequence[Taken]) -> bool:
        """Whether one of the `outputs` of `op`, which was given `inputs`, is what the watch is for.

        None is where the filter is asked at the end of the run (`at_ops`).
        """
        if not self._of_each:
            return self._bad_by_filter(op, inputs, outputs)
        op_type, norms, found = op.op_type, self._norms, False
        for key, dtype, value in outputs:
            norm = None
            if dtype in _WIDE:
                size = value.size
                if size > _SMALL or op_type in _HANDING_ON:
                    norm = self._bound(op, op_type, inputs, size)
                if norm is None and 1 < size <= _SMALL:  # `norm_bound` written out, for the most frequent case
                    square = float(_dot(value, value))
                    if square < _INFINITE:
                        norm = _INEXACT * _root(square) + _LEAST, size
            elif dtype in _EXACT:
                continue
            elif op_type == "ReadVariableOp":
                norm = self._known(inputs[0])
            if norm is None:
                norm = norm_bound(value)
            if norm is not None:
                norms[key] = norm
            elif not _is_undefined(op, key):
                found = True
        if len(norms) > _MOST_KNOWN:
            self._forget_oldest()
        return found and not self._is_excluded(op) and not (self.ignored and self._is_excused(op, inputs, outputs))

    def _bad_by_filter(self, op: Noted, inputs: Sequence[OpInput], outputs: Sequence[Taken]) -> bool:
        """As `bad`, for a filter that does not ask for non-finite numbers, or only for those that reach variables.

        In the latter case no op is bad, but what follows from ignored ops is noted all the same.
        """
        if not self.at_ops:
            return False
        if self.of_updates:
            if self.ignored and (self.ignored.follows(inputs) or self.ignored.means(op)):
                self.ignored.excuses(op, inputs, [one for one in outputs if one[2] is not None and _holds_bad(one)])
            return False
        found = any(self._passes(op, slot, value) for slot, (_, _, value) in enumerate(outputs))
        return found and not (self.ignored and self._is_excused(op, inputs, outputs))

    def _bound(self, op: Noted, op_type: str, inputs: Sequence[OpInput], size: int) -> Norm | None:
        """A bound of the norm of the output of `op`, of `size` elements; None unless it proves that to be finite."""
        if op_type == "ReadVariableOp":
            return self._known(inputs[0])
        rule = _RULES.get(op_type)
        if rule is None:
            return None
        if rule is PASSED_ON:
            read = op.reads[0]
            norm = (self._norms.get(read) if type(read) is int else None) or self._known(inputs[0])
            if norm is not None and (norm[1] != size or norm[0] >= FAR_FROM_OVERFLOW):
                return (norm[0], size) if norm[0] < FAR_FROM_OVERFLOW else None
            return norm
        counted, of_norms = rule
        # The ids of tensors from outside and of variables are not in `reads` themselves: those are found on the way.
        given: list[Any] = [*map(self._norms.get, op.reads[counted])]
        if None in given and not self._fill_in(given, inputs[counted], size):
            return None
        bound = of_norms(given, size)
        return (bound, size) if bound < FAR_FROM_OVERFLOW else None

    def _forget_oldest(self) -> None:
        self._before, self._norms = self._norms, {}

    def run_ends(self) -> None:
        """Note that a run is over: many norms are let age, since few of its tensors will be read again."""
        if len(self._norms) > _FEW:
            self._forget_oldest()

    def _is_excused(self, op: Noted, inputs: Sequence[OpInput], outputs: Sequence[Taken]) -> bool:
        """Whether what was found in `outputs` is to be ignored: as the user said, or because it follows from that.

        The latter only where the filter asks for non-finite numbers, which are followed from op to op.
        """
        return self.ignored.excuses(op, inputs, outputs) if self.anywhere else self.ignored.means(op)

    def may_be_intended(
        self, op: Noted, inputs: Sequence[OpInput], outputs: Sequence[Taken], earlier: EarlierRuns
    ) -> bool:
        """Whether the bad values that `op` gave may be intended: then they are judged at the end of the run.

        This holds for infinities that the program wrote down, and for whatever it hands to a choice such as
        `tf.where`, which may discard it. A variable may be set to such an infinity, as the best loss so far is where
        an epoch begins. `earlier` knows what runs before this one computed.
        """
        if self.intended is None:
            return False
        if updates_variable(op.op_type) and not builds(op.stack):
            if op.op_type in WRITES_IN_PART:  # what is still bad was there before
                return self.out_of_fine(inputs)
            return self.intended.sets_variable(op, inputs[-1], earlier)
        return self.intended.hands_on(op, inputs, outputs) or is_chosen_from(op.stack)

    def is_new(self, op: Noted) -> bool:
        """Whether no run was judged yet for bad values at the line of `op` that may be intended."""
        return self.intended is not None and self.intended.is_new(op.stack)

    def judged(self) -> None:
        """Note that the lines which `is_new` was asked about since the last time are judged now."""
        if self.intended is not None:
            self.intended.judged()

    def bad_variable(self, op: Noted, inputs: Sequence[OpInput], handle: EagerTensor, value: Array) -> bool:
        """Whether `value`, which the variable of `handle` holds after the update `op`, is what the watch is for."""
        found = self._finds_in_variable(op, handle, value)
        return found and not (self.ignored and self.ignored.excuses_variable(op, inputs, handle))

    def _finds_in_variable(self, op: Noted, handle: EagerTensor, value: Array) -> bool:
        if not self._finite_only:
            return self._asks(op, 0, UPDATED_VARIABLE, value)
        key = tensor_id(handle)
        self._before.pop(key, None)
        norm = norm_bound(value)
        if norm is not None:
            self._norms[key] = norm
            return False
        self._norms.pop(key, None)
        return not self._is_excluded(op)

    def settled(self, op: Noted, inputs: Sequence[OpInput], dtype: int) -> bool:
        """Whether the variable of `dtype` (by number) that `op` updated need not be read, since its norm is bounded.

        After `_MOST_UNSEEN` updates in a row it is read nevertheless, since the bound only grows.
        """
        if not self._finite_only or op.op_type not in _SIMPLE_UPDATES or len(inputs) != 2 or dtype not in _WIDE:
            return False
        handle, change = inputs[0], self._known(inputs[1])
        old = self._known(handle) if op.op_type != "AssignVariableOp" else (0.0, 0)
        if old is None or change is None:
            return False
        key, bound = tensor_id(handle), old[0] + change[0]
        self._unseen[key] = unseen = self._unseen.get(key, 0) + 1
        if unseen >= _MOST_UNSEEN or bound > FAR_FROM_OVERFLOW:
            self._unseen[key] = 0
            return False
        self._norms[key] = bound, max(old[1], change[1])
        return True

    def bad_update(self, op: Noted, inputs: Sequence[OpInput]) -> bool:
        """Whether the update `op` is given bad values, where only those that reach variables count (`of_updates`)."""
        if not self.of_updates:
            return False
        given = [one for one in inputs if not _is_handle(one)]
        if self.out_of_fine(given):
            return False
        return not (self.ignored and (self.ignored.means(op) or self.ignored.are_to_blame(given)))

    def out_of_fine(self, inputs: Sequence[OpInput]) -> bool:
        """Whether all numbers in `inputs` are finite: what the op gave then went bad in the op itself."""
        return all(self._known(given) or _is_fine(given) for given in inputs)

    def forget_variables(self) -> None:
        """Forget what is known of variables: something unseen, such as a function, may have updated them."""
        self._norms.clear()
        self._before.clear()

    def _known(self, given: OpInput) -> Norm | None:
        """A bound of the norm of what an op is given: a tensor, a variable or a number; None where none is known."""
        if type(given) is EagerTensor:
            key = tensor_id(given)
        elif isinstance(given, (float, int)):
            return (abs(given), 1) if math.isfinite(given) else None
        else:
            handle = getattr(given, "handle", None)
            if type(handle) is not EagerTensor:
                return None
            key = tensor_id(handle)
        return self._norms.get(key) or self._before.get(key)

    def _fill_in(self, norms: list[Norm | None], inputs: Sequence[OpInput], size: int) -> bool:
        """Find those `norms` of the `inputs` that are None; returns whether all are known now.

        A tensor from outside, such as a batch or a learning rate, is looked at once, unless it has more elements than
        the output of the op (`size`): then looking at the output is cheaper.
        """
        for at, given in enumerate(inputs):
            if norms[at] is None:
                norms[at] = norm = self._known(given) or self._looked_at(given, size)
                if norm is None:
                    return False
        return True

    def _looked_at(self, given: OpInput, most: int) -> Norm | None:
        """The norm of an eager float32 or float64 tensor of at most `most` elements; None if larger or not finite."""
        if type(given) is not EagerTensor or dtype_number(given) not in _WIDE:
            return None
        value = host_array(given)
        norm = norm_bound(value) if value.size <= most else None
        if norm is not None:
            self._norms[tensor_id(given)] = norm
        return norm

    def _is_excluded(self, op: Noted) -> bool:
        return self._excluded is not None and self._excluded(op.name) is not None

    def _passes(self, op: Noted, slot: int, value: Any) -> bool:
        if value is None or is_undefined(op.op_type, slot, partial(attribute, op.attributes)):
            return False
        return self._asks(op, slot, op.op_type, np.asarray(value))

    def _asks(self, op: Noted, slot: int, op_type: str, value: Array) -> bool:
        if self._is_excluded(op):
            return False
        node = op.name
        name = TensorName(node, slot)
        tensor = describe(name, value, device="", op_type=op_type, dtype=name_of(value.dtype))
        datum = TensorDatum(tensor, MemoryTensorStore([tensor], [value]), 0, Graph([Node(node, op_type, "")]))
        try:
            return bool(self.watched.tensor_filter(datum, value))
        except Exception:
            if self._failed:
                return False
            self._failed = True
            raise


def norm_bound(value: Any) -> Norm | None:
    """A bound of the L2 norm of an array or a NumPy scalar, and its size; None where not all of it is finite.

    The bound is infinite for dtypes whose norm is not computed, and where the sum of squares overflows.
    """
    size: int = value.size
    if value.dtype.char in _NUMBERS:
        if not value.ndim:
            return (abs(float(value)), 1) if math.isfinite(value) else None
        square = _dot(value, value)
        if math.isfinite(square):  # if not, the elements may be finite all the same: their squares can overflow
            return _INEXACT * math.sqrt(square) + _LEAST, size
        return (math.inf, size) if np.isfinite(value).all() else None
    kind = value.dtype.kind
    if (kind in _FLOATS or kind == "V") and any_nonfinite(np.asarray(value)):
        return None
    return math.inf, size


def _is_undefined(op: Noted, key: int) -> bool:
    """Whether the kernel leaves undefined what `op` gave as the tensor with that id."""
    slot = next(slot for slot, (made, _, _) in enumerate(op.outputs) if made == key)
    return is_undefined(op.op_type, slot, partial(attribute, op.attributes))


def _holds_bad(output: Taken) -> bool:
    return output[1] not in _EXACT and norm_bound(output[2]) is None


def _is_handle(given: OpInput) -> bool:
    return type(given) is EagerTensor and dtype_number(given) == RESOURCE


def _is_fine(given: OpInput) -> bool:
    if type(given) is EagerTensor:
        return dtype_number(given) in _EXACT or norm_bound(host_array(given)) is not None
    try:
        return not any_nonfinite(np.asarray(given))
    except (TypeError, ValueError):  # no numbers
        return True
