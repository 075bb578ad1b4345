"""The watch of eager code: looks at every op as it runs, and opens the prompt right behind a wrong one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from tfdbg_cli.capture.controller import Action, Controller, PendingRun, Plan, WatchRequest
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.functions.graph.forward_function import HandedOver
from tfdbg_cli.capture.runs.eager.checks import Checks
from tfdbg_cli.capture.runs.eager.deferred_ops import Failed, RanOp
from tfdbg_cli.capture.runs.eager.log.forward_ops import ForwardOps
from tfdbg_cli.capture.runs.eager.log.insides import Insides, call_of
from tfdbg_cli.capture.runs.eager.log.noted_ops import Taken, taken
from tfdbg_cli.capture.runs.eager.log.ops_before_a_call import Pasts
from tfdbg_cli.capture.runs.eager.ops import OPS, leaves, parts_of
from tfdbg_cli.capture.runs.eager.program.places import caller_of_function, within_py_function
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, is_under, stack_here
from tfdbg_cli.capture.runs.eager.program_names import namer
from tfdbg_cli.capture.runs.eager.section import PendingSection, Section
from tfdbg_cli.capture.runs.eager.sections import Here, Sections, captures
from tfdbg_cli.capture.runs.eager.seen_ops import SeenOps
from tfdbg_cli.capture.runs.eager.stops import Stops
from tfdbg_cli.capture.runs.eager.variable_updates import VariableUpdates
from tfdbg_cli.capture.runs.eager.vectorized_calls import as_noted
from tfdbg_cli.capture.tf.callers import live_frames
from tfdbg_cli.capture.tf.compat import PY_FUNCTION, EagerTensor, tensor_id
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.reentrancy import AT_WORK
from tfdbg_cli.capture.tf.types import AttributeList, OpInput, OpOutputs
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.runs import Run
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.process.interruptions import our_errors

_CALLERS = 4  # our frames between the program's call of a function and `function_gave`


class EagerWatch:
    """Looks at every value that a program computes eagerly while a watch is on, run by run (`sections`).

    Listens only while `attend` says so, since each op takes some microseconds more then.
    """

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._sections = Sections(controller, self._end_section)
        self._threads = self._sections.threads
        self._checks: Checks | None = None
        self._end: Callable[[], None] | None = None
        self._lock = threading.RLock()  # again by a signal handler that has the program debugged
        self.stops = Stops(controller)
        self._updates = VariableUpdates()
        self._pasts = Pasts()
        self.seen = SeenOps()

    def attend(self, wanted: bool) -> None:
        """Begin to listen to ops, or stop."""
        with AT_WORK, self._lock:
            if wanted and self._end is None:
                self._end = OPS.listen(self)
            elif not wanted and self._end is not None:
                self._end()
                self._end = None

    @property
    def listens(self) -> bool:
        """Whether ops are noted as they run: for a watch, a recording, or a stop to come."""
        return self._end is not None

    @property
    def seeks(self) -> bool:
        """Whether the program is to be stopped at an op to come, so that ops are noted also where no watch is on."""
        return self._controller.sought is not None

    @property
    def left_out(self) -> Sequence[str]:
        """See `controller.Attendant`."""
        return self._sections.left_out

    @property
    def outside(self) -> int:
        """See `controller.Attendant`."""
        return self.seen.outside

    def begins(self, op_type: str, inputs: Sequence[OpInput]) -> tuple[Here, Stack] | None:
        """An op is about to run; see `ops.Listener`."""
        here = self._threads.here
        if here.at_work["depth"]:
            return None
        within = here.inside["depth"]
        if within and not is_under(PY_FUNCTION):  # most ops within intercepted calls are ours: no stack is taken
            return None
        stack = stack_here(4, here.under)
        if within and not within_py_function(stack):
            return None
        section = here.section
        if here.turns.in_doubt and not here.told and updates_variable(op_type):
            here.turns.writes_variable(stack)
        if section is None or section.number is None or here.told or not here.turns.goes_on(stack):
            if self._end is None and not here.told:  # an op of another thread than that of the call that is recorded
                return None
            section = self._sections.of(here, stack)
            if section.number is None and not section.stopped and not section.ignored:
                self._sections.start_run(here, section, op_type, inputs, stack)
                return here, stack
        return None if section.ignored else (here, stack)

    def ran(
        self,
        op_type: str,
        inputs: Sequence[OpInput],
        attributes: AttributeList,
        outputs: OpOutputs,
        begun: tuple[Here, Stack],
    ) -> OpOutputs:
        """The op gave `outputs`; see `ops.Listener`."""
        here, stack = begun
        section, controller = here.section, self._controller
        if section is None:
            return outputs
        sought = controller.sought
        checks = section.checks
        if checks is None or sought is not None or checks.watched is not controller.watched:
            if section.ignored:
                return outputs
            if op_type == "ReadVariableOp" and section.number is None:
                here.read.add(tensor_id(outputs if type(outputs) is EagerTensor else outputs[0]))
            checks = None if section.whole else self._checks_of(controller.watched)  # asked of it at its end
            # Ops before the section is a run are noted as well: they may turn out to be the beginning of one.
            if checks is None and sought is None and section.plan is not None and not captures(section.plan):
                return outputs
            if section.number is not None:
                section.looked_at_by(checks)  # so that the next ops of the section skip all of this
                section.log.holds_reads = controller.watched is not None and controller.watched.all_runs
            elif checks is not None and not checks.anywhere:
                checks = None
        with AT_WORK:
            outputs = self._take_in(here, section, checks, op_type, inputs, attributes, outputs, stack)
        if here.deferred.allowed and section.checks is not None and controller.sought is None:
            here.deferred.begin(self._show, section.log.scope_now, section.log.room)
        return outputs

    def _take_in(
        self,
        here: Here,
        section: Section,
        checks: Checks | None,
        op_type: str,
        inputs: Sequence[OpInput],
        attributes: AttributeList,
        outputs: OpOutputs,
        stack: Stack,
        scope: str | None = None,
    ) -> OpOutputs:
        """Note an op and look at its outputs; returns what the program gets in their place.

        An op that was put off is given with the `scope` that it ran in; it cannot be changed any more.
        """
        log = section.log
        if scope is None:
            op_type, inputs, attributes = as_noted(log, op_type, inputs, attributes, stack)
        if type(outputs) is EagerTensor:
            gave: tuple[Taken, ...] = (taken(outputs),)
        elif type(outputs) is list and len(outputs) == 1 and type(outputs[0]) is EagerTensor:
            gave = (taken(outputs[0]),)
        else:
            gave = tuple(map(taken, leaves(outputs)))
        op = log.add(op_type, inputs, attributes, gave, stack, scope)
        if log.fresh and captures(section.plan):
            section.name_fresh(stack)
        found = checks is not None and checks.bad(op, inputs, gave)
        section.fine &= checks is not None
        if updates_variable(op_type):
            found = self._updates.note(section, checks, op, inputs) or found
        if found or self._controller.sought is not None:
            sought = self._controller.sought
            changeable = outputs if scope is None else None
            return self.stops.after(here, section, checks if found else None, sought, op, inputs, gave, changeable)
        return outputs

    def _show(self, ops: Sequence[RanOp]) -> None:
        """Look at ops that this thread has put off, each as if it had just run."""
        here = self._threads.here
        section, controller = here.section, self._controller
        if section is None:
            return
        watched = controller.watched
        checks = self._checks_of(watched)
        with AT_WORK:
            for arguments, outputs, stack, scope in ops:
                if controller.watched is not watched:  # a stop has ended the watch, or begun another
                    watched = controller.watched
                    checks = self._checks_of(watched)
                if section.ignored:
                    break
                inputs, attributes = parts_of(arguments)
                if isinstance(outputs, Failed):
                    section.log.add_failed(outputs.message, arguments[1], inputs, attributes, stack, scope)
                    continue
                self._take_in(here, section, checks, arguments[1], inputs, attributes, outputs, stack, scope)

    def failed(
        self,
        op_type: str,
        inputs: Sequence[OpInput],
        attributes: AttributeList,
        begun: tuple[Here, Stack],
        message: str,
    ) -> None:
        """The op raised an error; see `ops.Listener`."""
        here, stack = begun
        section = here.section
        if section is not None and not section.ignored:
            with AT_WORK:
                section.log.add_failed(message, op_type, inputs, attributes, stack)

    @property
    def forward_ops(self) -> ForwardOps | None:
        """The ops of the run of this thread; see `ops.Listener`."""
        section = self._sections.here.section
        return None if section is None else section.log.forward

    @contextmanager
    def naming(self, title: str, plan: Plan, names: Mapping[int, str]) -> Iterator[Section]:
        """A context whose ops are the run of `plan`, called `title`; `names` are those of its arguments, by id."""
        here = self._sections.here
        before = here.section
        here.section = section = self._sections.named(title, plan, names, at_ops=self.looks_at_ops)
        here.told += 1
        end = OPS.listen(self) if self._end is None else lambda: None
        before_whole, WHOLE_CALL.watch = WHOLE_CALL.watch, self if section.whole else None
        try:
            yield section
        finally:
            WHOLE_CALL.watch = before_whole
            end()
            here.told -= 1
            here.section = before
            self.seen.section_ends(section.log.count, is_run=True)

    def run_begins(self, pending: PendingRun) -> None:
        """Note that a run begins in this thread; if of a function or session, the turns around it are no runs."""
        if isinstance(pending, PendingSection):
            return
        self._sections.here.deferred.show()
        here = self._sections.here
        here.functions = True
        if self._ends_before_a_call(here):
            self._end_section(here)
        if self._checks is not None:
            self._checks.forget_variables()
        if here.turn is not None:
            here.functional.add(here.turn.key)
        here.called = True

    def _ends_before_a_call(self, here: Here) -> bool:
        """Whether the section of this thread is over where a function or session is called.

        What is in no loop has no end of its own. While it is captured for a stop no other run is, so all calls up to
        the end of the program would be left alone.
        """
        section = here.section
        if section is None or here.told or section.turn is not None or self._controller.watched is not None:
            return False
        return section.plan is not None and captures(section.plan) and not section.plan.recorded

    def function_gave(
        self,
        name: str,
        insides: Insides,
        inputs: Sequence[EagerTensor],
        outputs: OpOutputs,
        written: Sequence[EagerTensor],
        nbytes: int = 0,
    ) -> None:
        """Note that this thread called the function `name`: in the log it is one op of the section around it.

        `written` are the handles of the variables that it may have updated. Its `insides` hold `nbytes` of values.
        """
        self._sections.here.deferred.show()
        stack = stack_here(_CALLERS)
        section = self._sections.of(self._sections.here, caller_of_function(stack), calls=True)
        self._sections.here.called = True  # in the turn that `of` may just have begun
        if not section.ignored:
            name = name.replace(" ", "_")  # of a gradient
            gave = [taken(one) for one in leaves(outputs) if type(one) is EagerTensor]
            op = section.log.add(name, inputs, call_of(insides), gave, stack)
            section.log.wrote_unseen(op, written)
            section.log.holds_more(op, nbytes)
            checks = self._checks_of(self._controller.watched)
            if checks is not None:
                checks.ignored.gave(name, gave)

    def with_past(
        self, run: Run, given: Mapping[str, EagerTensor], handed: HandedOver | None, *, insides: bool
    ) -> Run:
        """`run` of a function that this thread called, with the eager ops that made what it was `given`.

        If it is a gradient, `handed` is what its forward function handed over, which was called among these ops.
        With `insides` the values inside of functions that were called among these ops are computed again.
        """
        section = self._sections.here.section
        if section is None or not len(section.log):
            return run
        return self._pasts.with_past(run, section.log, given, handed, namer(live_frames()), insides=insides)

    @property
    def room(self) -> int:
        """The bytes that values of the section of this thread may still take."""
        section = self._sections.here.section
        return 0 if section is None else section.log.left

    @property
    def looks_at_ops(self) -> bool:
        """Whether the filter of the watch is asked of each op, and not only of a whole run at its end."""
        checks = self._checks_of(self._controller.watched)
        return checks is not None and checks.at_ops

    def end(self) -> None:
        """End the last run of this thread: the program is at its end, or debugged no more."""
        self._end_section(self._sections.here)

    def broken_off(self, error: RunError, frames: tuple[LiveFrame, ...], runs: int) -> Run | None:
        """The run of this thread that `error` ended, as far as it came; None where its ops were not kept.

        `frames` are the calls that the error left, which name what it read. Ops that are no run count as one behind
        the `runs` before if the op that failed is among them.
        """
        here = self._sections.here
        section = here.section
        if section is None or section.stopped:
            return None
        kept = captures(section.plan) and section.number is not None
        if not kept and section.log.failed_with(error.message) is None:
            return None
        here.section = None
        self.seen.section_ends(section.log.count, is_run=True)
        return section.run(section.number or runs + 1, frames, error, ended=True)

    def _end_section(self, here: Here) -> None:
        section, here.section = here.section, None
        if section is not None:
            with AT_WORK:
                self._ended(section)

    def _ended(self, section: Section) -> None:
        """Tell the debugger what came of `section`, in which its thread is no more."""
        self.seen.section_ends(section.log.count, is_run=section.number is not None)
        if self._checks is not None:
            self._checks.run_ends()
        plan = section.plan
        # To be judged, or told of.
        if plan is None and (section.let_nan_pass or section.lets_pass(self._controller.watched)):
            plan = self._controller.run_starts(PendingSection(section, self._controller, found=True))
        if plan is None or plan.action is Action.LEAVE or section.stopped:
            return
        try:
            if plan.watched is None:
                self._controller.run_ends(plan, section.over(plan.number))
            elif section.to_be_judged:
                self._controller.run_ends(plan, section.over(plan.number, caught=True))
                if self._checks is not None:
                    self._checks.judged()
            elif self._checks is not None and self._checks.at_ops:
                fine = section.fine and self._checks.finds_all
                self._controller.run_passed(plan, lambda: section.over(plan.number, found_finite=fine))
            else:
                self._controller.run_ends(plan, section.over(plan.number))
        except our_errors() as error:
            report("show a run", error)
            self._controller.run_abandoned(plan)

    def _checks_of(self, watched: WatchRequest | None) -> Checks | None:
        if watched is None:
            return None
        if self._checks is None or self._checks.watched is not watched:
            if self._checks is not None:
                section = self._sections.here.section
                self.seen.watch_begins(0 if section is None else section.log.count)
            self._checks = Checks(watched)
        return self._checks


class _WholeCall(threading.local):
    """Of one thread: the watch that notes all values of the call that it is in; None where none does."""

    watch: EagerWatch | None = None


WHOLE_CALL = _WholeCall()
_WATCHES: Memo[EagerWatch] = Memo(EagerWatch)


def watch_of(controller: Controller) -> EagerWatch:
    """The watch of eager code that asks `controller`: the same object each time, made at the first call."""
    return _WATCHES.of(controller)
