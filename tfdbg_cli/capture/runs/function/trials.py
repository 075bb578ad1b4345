"""Trials: some watched calls are made once more by the plain function, from the same state, and compared bit by bit.

The optimized graph does not prove everything: ops may reuse buffers, and XLA may compile a function otherwise. So the
first calls under a watch are tried, then fewer and fewer; and each call in which the watch found something, since ops
that otherwise agree may differ for NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import tensorflow as tf

from tfdbg_cli.analysis.error_text import first_line
from tfdbg_cli.capture.failures import remark, report_bug
from tfdbg_cli.capture.functions.exact.agreement import Agreement, CallOutcome, agreement
from tfdbg_cli.capture.functions.exact.unordered_sums import unordered_sums
from tfdbg_cli.capture.runs.function.plain_runs import PlainRuns
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.state.snapshot_plan import SnapshotPlan
from tfdbg_cli.capture.state.variable_values import put_back
from tfdbg_cli.capture.tf.types import AtomicFunction, EagerTensor
from tfdbg_cli.errors import reason_of
from tfdbg_cli.model.exactness import Parting, named_partings
from tfdbg_cli.model.units import names_text
from tfdbg_cli.process.interruptions import our_errors

_DIFFER = "runs of {function} give other last digits than plain ones, in {named}."
_FAILED = (
    "With checks in it {function} failed, which it does not without them ({error}). The program was given what the "
    "plain run gives. From now on a copy of each call is watched, which takes about twice the time."
)
_UNORDERED = (
    " It may not be by the watch: TensorFlow adds up the terms of {sums} in the order in which they come, so that"
    " last digits of plain runs differ, too."
)
_UNSTEADY = "its plain calls from one state differ from each other"
_DISTURBED = "other threads of the program write variables meanwhile"
_FIRST = 2  # calls that are all tried
_MOST_DISTURBED = 5  # trials in a row that other threads may spoil


class Added(StrEnum):
    """What is added to the calls of a function that are tried, by what is said once these differ from plain ones."""

    CHECKS = (
        f"Watched in place, {_DIFFER} From now on the program's own call stays as it is, and a copy of it is watched,"
        " which takes about twice the time."
    )
    STATISTICS = f"With statistics computed in them, {_DIFFER} From now on these are computed of values of the run."
    VALUES = (
        f"With their values kept, {_DIFFER} The program is given what the plain run gives where one is made, and else"
        " those. `--values replay` watches without that."
    )
    DRAWS = (
        f"Where what they draw is taken, as a batch, {_DIFFER} From now on each run is made plainly, too, from the"
        " same state, and the program is given what that gives."
    )


@dataclass(frozen=True)
class Trial:
    """The result of a trial: the outputs to give to the program, and which outputs and variables differed.

    Where some did, `right` says that the program has what the plain call gives.
    """

    outputs: tuple[EagerTensor, ...]
    agreement: Agreement
    right: bool = True


class Trials:
    """The trials of one function under one watch.

    `differs` says that some call gave other bits than the plain one. `strays` are the outputs and variables in which
    calls that were not tried may have differed unseen: earlier ones, and if values are kept later ones too, since
    then the function is watched in place nevertheless.
    """

    def __init__(self, snapshot_plan: SnapshotPlan, atomic: AtomicFunction, added: Added = Added.CHECKS) -> None:
        """Try calls of `atomic` to which `added` is added."""
        self._snapshot_plan = snapshot_plan
        self._added = added
        self._function = str(atomic.graph.name)
        self._plain = PlainRuns(snapshot_plan, atomic)
        self._calls = 0
        self.made = 0
        self.differs = False
        self._missed = False  # whether a call was not tried that was to be set right
        self.strays: dict[str, Parting] = {}
        self.failure = ""
        self._disturbed = 0  # trials in a row during which another thread may have written variables

    @property
    def reason(self) -> str:
        """Why no calls are tried; empty if they are."""
        return self._plain.reason or self._plain.unlike or self.failure

    @property
    def has_copies(self) -> bool:
        """Whether calls can be made on copies, be their last digits the program's or not."""
        return not (self._plain.reason or self.failure)

    @property
    def sets_right(self) -> bool:
        """Whether the program is given what the plain call gives, of each call, since others differ from it."""
        return self._added is Added.DRAWS and self.differs and not self._missed and not self.reason

    def next_is_due(self) -> bool:
        """Whether the call that is made now is to be tried. Counts the calls, so it must be asked once for each.

        Of calls that give what they draw all are, once one differed: there is no other way to make them.
        """
        self._calls += 1
        if self.reason:
            return False
        if self._added is Added.DRAWS and self.differs:
            return True
        return bool(self._disturbed) or self._calls <= _FIRST or self._calls == 10 ** (len(str(self._calls)) - 1)

    def inputs(self, held: CallSnapshot) -> list[EagerTensor]:
        """Inputs for a call from the state of `held`, on copies; see `PlainRuns.inputs`."""
        return self._plain.inputs(held)

    def made_before(self, held: CallSnapshot) -> CallOutcome | None:
        """What the plain call from the state `held` does; asked before the call. None if `tried` has to make it.

        Made before the call, it needs no memory at the same time as all the values that the call keeps.
        """
        if self.reason or self._plain.draws:
            return None
        try:
            return self._plain.effect(held)
        except our_errors():  # a mistake of the program comes up in the call itself
            return None

    def tried(
        self, held: CallSnapshot, outputs: Sequence[EagerTensor], *, found: bool, plain: CallOutcome | None = None
    ) -> Trial | None:
        """Make the plain call from the state `held` and compare it with the call that was made, which gave `outputs`.

        Where they differ the program's variables are set to what the plain call leaves in them, unless another thread
        has begun to write since the calls were compared: what it writes would be lost. `found` says that the watch
        found something in the call: a difference is not held against the function then, since NaN alone may cause it.
        `plain` is the result of `made_before`. None if the plain call cannot be made, does not repeat, or if another
        thread may have written variables since the state was held: then the next call is tried.
        """
        try:
            plain = plain or self._plain.effect(held)
        except our_errors() as error:  # the run was made, whatever becomes of its trial
            self.failure = f"it failed when it was made plainly ({reason_of(error)})"
            return None
        try:
            watched = CallOutcome(outputs, held.variables_now())
            result = agreement(self._snapshot_plan.root, watched, plain)
            repeats = not result.partings or found or self.differs or self._repeats(held, plain)
        except our_errors() as error:
            report_bug("compare a watched call with a plain one", error)
            self.failure = f"it could not be compared with a plain call ({reason_of(error)})"
            return None
        if not held.alone:
            self._missed = self._missed or self.differs
            self._disturbed += 1
            self.failure = _DISTURBED if self._disturbed > _MOST_DISTURBED else ""
            return None
        self._disturbed = 0
        if not repeats:
            self.failure = _UNSTEADY
            return None
        self.made += 1
        if not result.partings:
            return Trial(tuple(outputs), result)
        with held.kept_alone() as right:
            if right:
                self._set_right(held, watched, plain)
        if not found:
            self._note(result.partings, right)
        return Trial(tuple(map(_of_both, outputs, plain.outputs) if right else outputs), result, right)

    def given_plainly(self, held: CallSnapshot, error: Exception) -> tuple[EagerTensor, ...] | None:
        """The outputs of the plain call from the state `held`, after a call with checks failed with `error`.

        The variables are set to what the plain call leaves. None if that fails too, as for a mistake of the program,
        or cannot be made.
        """
        if self.reason:
            return None
        try:
            plain = self._plain.effect(held)
        except our_errors():  # the program gets the error that it has
            return None
        outputs = tuple(output for output in plain.outputs if output is not None)
        if any(output.dtype == tf.resource for output in outputs):  # the handle of a copy
            return None
        self._set_right(held, CallOutcome((), held.variables_now()), plain)
        self.differs = True
        remark(_FAILED.format(function=self._function, error=_kind_and_words(error)))
        return outputs

    def _of_unordered_sums(self) -> str:
        """A sentence about sums of which any two calls of the function may give other last digits; empty for none."""
        plain = self._snapshot_plan.optimized()
        sums = () if plain is None else unordered_sums(plain)
        return _UNORDERED.format(sums=names_text(sums)) if sums else ""

    def _repeats(self, held: CallSnapshot, plain: CallOutcome) -> bool:
        """Whether the plain call gives the same bits when it is made once more."""
        return not agreement(self._snapshot_plan.root, plain, self._plain.effect(held)).partings

    def _set_right(self, held: CallSnapshot, watched: CallOutcome, plain: CallOutcome) -> None:
        """Give the program's variables what the plain call left in them."""
        for at, value in plain.variables.items():
            if value is not None and watched.variables.get(at) is not None:
                put_back(held.inputs[at], value)

    def _note(self, partings: Sequence[Parting], right: bool) -> None:
        """Note that a call differed in `partings`; `right`: the program was given what the plain one gives."""
        known, self.differs = self.differs, True
        if known and self._added is Added.DRAWS:
            self._missed = self._missed or not right
            return
        said = self._added.format(function=self._function, named=named_partings(partings))
        remark(said + self._of_unordered_sums())
        if self._added is Added.VALUES or self._calls > _FIRST or not right:
            self.strays.update({parting.name: parting for parting in partings})


def _kind_and_words(error: Exception) -> str:
    kind, words = type(error).__name__, first_line(str(error))
    return f"{kind}: {words}" if words else kind


def _of_both(watched: EagerTensor | None, plain: EagerTensor | None) -> EagerTensor | None:
    """The output for the program: the plain one, unless that is a handle, which would lead to a copy."""
    return watched if watched is None or watched.dtype == tf.resource else plain
