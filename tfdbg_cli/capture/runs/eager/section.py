"""A section is a part of an eager program that is one run: a turn of a loop, a named call, or what lies between."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tfdbg_cli.analysis.origin.benign import judged
from tfdbg_cli.analysis.origin.dismissed import dismissed_in
from tfdbg_cli.capture.budget import memory_budget
from tfdbg_cli.capture.controller import Action, Controller, PendingRun, Plan, WatchRequest
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.runs.batch_places import batch_places
from tfdbg_cli.capture.runs.data_behind import data_behind
from tfdbg_cli.capture.runs.eager.checks import Checks
from tfdbg_cli.capture.runs.eager.eager_variables import EagerVariables
from tfdbg_cli.capture.runs.eager.log.composites import Composite, composites_at_hand, composites_of, known_composite
from tfdbg_cli.capture.runs.eager.log.earlier_runs import EarlierRuns
from tfdbg_cli.capture.runs.eager.log.insides import called_by
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.log.run_of_log import parts_of_run
from tfdbg_cli.capture.runs.eager.pauses import PausedOp
from tfdbg_cli.capture.runs.eager.program.places import is_program
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, calls, line_at
from tfdbg_cli.capture.runs.eager.program.tasks import note_of_tasks
from tfdbg_cli.capture.runs.eager.program.turn import Turn
from tfdbg_cli.capture.runs.eager.program_names import namer, names_at_hand, names_of_tensors
from tfdbg_cli.capture.tf.callers import live_frames
from tfdbg_cli.capture.tf.compat import EagerTensor, tensor_id
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.runs import Estimate, Run, RunStart
from tfdbg_cli.model.values import Array
from tfdbg_cli.process.interruptions import our_errors

_MOST_KNOWN = 5_000
_NEVER: tuple[Stack, str] = ([], "")
_NAMELESS: dict[int, Stack] = {}  # stacks of ops whose inputs had no name when it was looked up, by id of the stack
_NAMED: dict[int, tuple[Stack, str]] = {}  # by tensor id: the stack of the op that read it, its name there
ONE_BY_ONE = "Each op ran on its own, as Python called it; there is no graph but the flow of its data."
_STOPPED_WITHIN = "The program stands in the middle of this run, right behind its last op."
_DROPPED = (
    "The first {} ops of this run are not shown: the last ones fill the memory for them (`config set memory_budget`)."
)


@dataclass(eq=False)
class Section:
    """One section, which grows with each op.

    `number` and `plan` are those of the run, None until the section becomes one. `names` are names of the call's
    arguments by the ids of the tensors, `read` names of tensors from outside, as they were when they were read, and
    of variables made in it, as they were at their first update. `composites` are the ragged and sparse tensors of
    which such are parts. `earlier` knows the runs before it.
    """

    named: str  # its title; empty where that follows from its turn
    log: RecentOps
    turn: Turn | None = None
    number: int | None = None
    plan: Plan | None = None
    stopped: bool = False  # whether the watch has stopped in it, so that values derived from that find are no news
    to_be_judged: bool = False  # whether bad values that may be intended came up, to be judged at its end
    let_nan_pass: bool = False  # whether NaN is among them
    ignored: bool = False  # whether its ops are left alone
    fine: bool = True  # whether the watch has looked at each of its ops, and found nothing, also nothing to go past
    checks: Checks | None = None  # the checks of the watch that is on, kept here for speed; None where not looked up
    whole: bool = False  # whether all its values are kept, those inside of functions that it calls included
    last_call: Stack | None = None  # of a function
    names: Mapping[int, str] | None = None
    read: dict[int, str] = field(default_factory=dict)
    composites: dict[int, Composite] = field(default_factory=dict)
    earlier: EarlierRuns = field(default_factory=EarlierRuns)

    def is_called_again(self, stack: Stack) -> bool:
        """Whether a call of a function with this stack is made where the last one was; not once it is a run."""
        return self.number is None and not self.stopped and self.last_call == stack

    def name_fresh(self, stack: Stack) -> None:
        """Note the program's names for those tensors that the op with this stack has just read for the first time.

        Searching the local variables of all calls takes longer than many ops, and most tensors that are new in each
        turn are made by TensorFlow itself, such as axes. So nothing is searched for an op whose inputs had no names
        once, nor for tensors that the same place has read before, such as data that all turns share.
        """
        fresh = self.log.fresh
        if id(stack) not in _NAMELESS:
            met = [(key, *_NAMED.get(key, _NEVER)) for key in fresh]
            if all(there is stack for _, there, _ in met):
                self.read.update((key, name) for key, _, name in met)
                known = ((key, known_composite(key, name)) for key, _, name in met)
                self.composites.update((key, whole) for key, whole in known if whole is not None)
            else:
                self._look_for_names(fresh, stack)
        fresh.clear()

    def name_made(self, handle: EagerTensor) -> None:
        """Note the program's name for the variable of `handle`, just updated, if it was made in this turn of a loop.

        By the end of the turn its name may be gone, or stand for another variable, as the loop goes.
        """
        key = tensor_id(handle)
        if self.turn is not None and key not in self.read and self.log.has_made(handle):
            self.read[key] = names_of_tensors(live_frames()).get(key, "")

    def _look_for_names(self, fresh: set[int], stack: Stack) -> None:
        composites = composites_at_hand(fresh)
        found = {**names_at_hand(fresh), **{key: whole.name for key, whole in composites.items()}}
        self.read.update(found)
        self.composites.update(composites)
        for known in (_NAMELESS, _NAMED):
            if len(known) > _MOST_KNOWN:
                known.clear()
        if not found:
            _NAMELESS[id(stack)] = stack
        _NAMED.update((key, (stack, name)) for key, name in found.items())

    def looked_at_by(self, checks: Checks | None) -> None:
        """Have `checks` look at the ops to come; the run counts for their watch, which may have begun amid it.

        A watch that asks for the same as the one that stopped in it is no other. A run that is captured for a stop
        behind it, or for a recording, stays that.
        """
        self.checks, plan = checks, self.plan
        watched = None if checks is None else checks.watched
        if watched is None or plan is None or plan.watched is watched:
            return
        if plan.watched is None and plan.action is Action.CAPTURE:
            return
        if plan.watched is None or not plan.watched.asks_as(watched):
            self.stopped = False
        self.plan = replace(plan, action=Action.CAPTURE, errors=True, watched=watched)

    @property
    def title(self) -> str:
        """The title of the run, made when somebody looks."""
        return self.named or (self.turn.words if self.turn is not None else "")

    def described(
        self,
        number: int,
        feeds: Mapping[str, Array] | None = None,
        came: Mapping[str, int] | None = None,
        runs_within: Mapping[str, int] | None = None,
    ) -> Call:
        """The description of the call; `came` has the ids of tensors and iterators by which a batch may have come.

        `runs_within` has the numbers of the runs that the functions called in it were, by their scopes.
        """
        thread = threading.current_thread().name
        loop = "" if self.turn is None else self.turn.place
        places = batch_places(came or {})
        return Call(
            number,
            RunKind.EAGER,
            (),
            feeds or {},
            thread=thread,
            function=self.title,
            loop=loop,
            came=places,
            carried={name: run for name, run in self.earlier.behind(came or {}).items() if name not in places},
            unchanged=self._unchanged(came or {}),
            behind=data_behind(came or {}),
            runs_within=runs_within or {},
        )

    def _unchanged(self, came: Mapping[str, int]) -> tuple[str, ...]:
        """Those of the tensors that `came`, names with ids, that the turn of the loop before was given, too."""
        if self.turn is None or not came:
            return ()
        return self.earlier.unchanged(self.turn.key, came, self.log.given()[1])

    def run(
        self,
        number: int,
        frames: tuple[LiveFrame, ...],
        error: RunError | None = None,
        *,
        caught: bool = False,
        ended: bool = False,
        news: bool = False,
        paused: PausedOp | None = None,
    ) -> Run:
        """The section as a run, as far as it has come. `frames` are the program's calls that are under way now.

        With `ended` they are not shown. With `news` the run has only the last op and the ops that led to it, since
        the others have been shown. `paused` is the op after which the program stands; it gets the run's variables.
        """
        op = None if error is None else self.log.failed_with(error.message)
        if error is not None:
            error = replace(error, node=op.name) if op is not None else self._failed_inside(error)
        named = namer(frames, self.names, self.read)
        composites = {**composites_of(frames), **self.composites}
        parts = parts_of_run(self.log, named, last=news, failed=op, composites=composites)
        if paused is not None:
            paused.handles = parts.handles
        notes = [ONE_BY_ONE]
        unfinished = bool(frames) and not ended
        notes += [_STOPPED_WITHIN] * unfinished
        mixed = "" if self.turn is None else note_of_tasks(self.turn.code)
        notes += [mixed] * bool(mixed)
        notes += [_DROPPED.format(self.log.dropped)] * bool(self.log.dropped)
        return Run(
            self.described(number, parts.feeds, parts.came, parts.runs_within),
            parts.store,
            parts.graph,
            tracebacks=parts.tracebacks,
            error=error,
            notes=tuple(notes),
            caught=caught,
            frames=() if ended else frames,
            unfinished=unfinished,
            paused=paused,
            variables=EagerVariables(parts.handles),
        )

    def over(self, number: int, *, caught: bool = False, found_finite: bool = False) -> Run:
        """The section as a run that is over; what it read has the names that calls under way have for it."""
        run = self.run(number, live_frames(), caught=caught, ended=True)
        return replace(run, found_finite=found_finite)

    def lets_pass(self, watched: WatchRequest | None) -> bool:
        """Whether NaN and infinities came up in the section that the watch goes past: all that did are benign.

        What no op of it reads is not: the program has that, and nobody knows yet what it is for.
        """
        if watched is None or not self.to_be_judged or self.stopped or self.ignored:
            return False
        try:
            run = self.run(0, live_frames(), ended=True)
            judgement = judged(run, watched.exclude_node_names, dismissed_in(run, watched.by_hand))
        except our_errors() as error:  # then nothing is said of them
            report("look at what was let pass", error)
            return False
        return bool(judgement.places) and not judgement.harm

    def _failed_inside(self, error: RunError) -> RunError:
        """`error` with the op inside of the function that the last op of the log called, if that failed with it."""
        op = self.log.last
        insides = None if op is None else called_by(op)
        failure = None if insides is None else insides.failure
        if op is None or failure is None or failure.message != error.message:
            return error
        node = f"{op.name}/{failure.node}" if failure.node else None
        return replace(error, node=node, inputs_note=failure.inputs_note)


def between(stack: Stack) -> str:
    """The title of a section in no loop: `train.py from line 5 on`, by the program's outermost call in `stack`."""
    own = ((code, offset) for code, offset in calls(stack) if is_program(code))
    code, offset = next(own, (stack[-2], stack[-1]))
    return f"{Path(code.co_filename).name} from line {line_at(code, offset)} on"


class PendingSection:
    """A section that is about to become a run (`controller.PendingRun`)."""

    def __init__(self, section: Section, controller: Controller, *, found: bool = False) -> None:
        """With `found` it becomes one because a watch found something in it."""
        self.found = found
        self._section = section
        self._controller = controller

    def start(self, number: int) -> RunStart:
        return RunStart(self._section.described(number))

    def estimate(self, capture: CaptureRequest, watching: bool = False, directory: Path | None = None) -> Estimate:
        return Estimate(0, None, 0, memory_budget(self._controller.settings), "memory")

    def arguments(self) -> tuple[object, object]:
        return (), {}


def is_find(pending: PendingRun) -> bool:
    """Whether the run that is about to begin is a section in which a watch found something."""
    return isinstance(pending, PendingSection) and pending.found
