"""Stops in the middle of eager code: the prompt right behind an op that is bad, or where the user asked to pause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.capture.controller import Action, Controller
from tfdbg_cli.capture.runs.delivered import DELIVERIES
from tfdbg_cli.capture.runs.eager.checks import Checks
from tfdbg_cli.capture.runs.eager.log.insides import called_by
from tfdbg_cli.capture.runs.eager.log.noted_ops import Noted, Released, Taken
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.log.set_by_hand import note_assigned, note_given
from tfdbg_cli.capture.runs.eager.pauses import PausedOp, Pauses, exchanged
from tfdbg_cli.capture.runs.eager.program.places import counts
from tfdbg_cli.capture.runs.eager.program.stacks import Stack
from tfdbg_cli.capture.runs.eager.section import PendingSection, Section
from tfdbg_cli.capture.runs.eager.sections import Here
from tfdbg_cli.capture.tf.callers import live_frames
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import OpInput, OpOutputs
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.pausing import Sought
from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.ops.kinds import BATCHES


class Stops:
    """Decides after which ops the program stops, and has `controller` open the prompt there."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._pauses = Pauses()
        self.passed_over = 0  # ops that went bad of their own since the last stop, in the run in which that was

    def after(
        self,
        here: Here,
        section: Section,
        found_by: Checks | None,
        sought: Sought | None,
        op: Noted,
        inputs: Sequence[OpInput],
        gave: Sequence[Taken],
        outputs: OpOutputs,
    ) -> OpOutputs:
        """Stop after `op` if it is bad (`found_by`) or a pause is due; returns what the program gets from it."""
        stack = op.stack
        section.fine = section.fine and found_by is None
        if found_by is not None and found_by.may_be_intended(op, inputs, gave, section.earlier):
            section.to_be_judged = found_by.is_new(op) or section.to_be_judged
            section.let_nan_pass = section.let_nan_pass or any(map(_holds_nan, gave))
            found_by = None
        if found_by is not None and self._is_news(here, section, found_by, inputs, stack):
            self._pauses.found(op, stack, here.turn)
            apart = found_by.out_of_fine(inputs) and _was_bad_before(section.log, op)
            return self._opened_at(section, PausedOp(op, outputs), alone=apart)
        if sought is not None:
            named = section.names is not None
            why = self._pauses.why(sought, op, inputs, gave, stack, here.turn, named=named)
            if why:
                self._pauses.paused(op, stack, here.turn)
                return self._paused_at(section, PausedOp(op, outputs, why))
        return outputs

    def _is_news(self, here: Here, section: Section, checks: Checks, given: Sequence[OpInput], stack: Stack) -> bool:
        """Whether to stop: once in a turn or a named call; elsewhere also later, at ops whose inputs are finite.

        Such ops are counted where it does not stop. A turn whose end is not told is no end of it either.
        """
        if not counts(stack) or (section.stopped and not checks.out_of_fine(given)):
            return False
        ends = section.names is not None or (section.turn is not None and here.turns.end_is_told)
        self.passed_over += section.stopped and ends
        return not (section.stopped and ends)

    def _opened_at(self, section: Section, paused: PausedOp, *, alone: bool) -> OpOutputs:
        """Open the prompt on the run as far as it has come, unless the watch goes past what was found.

        With `alone` it shows only what led to the op. Returns what the program gets from the op.
        """
        self.passed_over = 0
        if paused.op.op_type in BATCHES:  # the iterator has not handed it on yet
            DELIVERIES.arrives(key for key, _, _ in paused.op.outputs)
        frames = live_frames()
        plan = section.plan
        if plan is None or section.stopped:
            plan = self._controller.run_starts(PendingSection(section, self._controller, found=True))
            if plan.action is Action.LEAVE:
                section.ignored, section.checks = True, None
                return paused.outputs
        news = section.stopped
        section.number, section.plan, section.stopped = plan.number, plan, True  # also if Ctrl-C ends the stop
        with INSIDE:
            run = section.run(plan.number, frames, caught=True, news=news or alone, paused=paused)
            section.stopped = self._controller.run_ends(plan, run) or news
        return _given_instead(section, paused, frames)

    def _paused_at(self, section: Section, paused: PausedOp) -> OpOutputs:
        """Open the prompt after an op where the user asked for it; returns what the program gets from the op."""
        if section.number is None:
            section.plan = self._controller.run_starts(PendingSection(section, self._controller, found=True))
            section.number = section.plan.number
        frames = live_frames()
        with INSIDE:
            self._controller.run_paused(section.run(section.number, frames, paused=paused))
        plan = section.plan
        if self._controller.watched is not None and plan is not None and not plan.recorded:
            # A watch that begins here takes the place of the stop behind the run, if it was captured for one.
            section.plan, section.whole = replace(plan, action=Action.LEAVE), False
        return _given_instead(section, paused, frames)


def _was_bad_before(log: RecentOps, op: Noted) -> bool:
    """Whether another op of `log` than `op` gave NaN, or a function called among them NaN or an infinity.

    It was not stopped at: a function is a run of its own, and what Keras does between its steps does not count.
    """
    return any(
        value is not None
        and type(value) is not Released
        and value.dtype.kind in "fcV"
        and (any_nonfinite(value) if called_by(other) is not None else bool(nan_mask(np.asarray(value)).any()))
        for other in log
        if other is not op and other.number not in log.set_by_hand
        for _, _, value in other.outputs
    )


def _holds_nan(output: Taken) -> bool:
    _, _, value = output
    return value is not None and bool(nan_mask(np.asarray(value)).any())


def _given_instead(section: Section, paused: PausedOp, frames: Sequence[LiveFrame]) -> OpOutputs:
    """The outputs of the op, with those that the user replaced; what they assigned to variables is noted as theirs.

    Frees what `frames` and `paused` hold.
    """
    for frame in frames:
        frame.let_go()
    for handle, tensor, held in paused.assigned():
        note_assigned(section.log, paused.op, handle, tensor, held)
    for slot, tensor in paused.replaced.items():
        note_given(section.log, paused.op, slot, tensor)
    return exchanged(paused.let_go(), paused.replaced)
