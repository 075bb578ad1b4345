"""A part of an eager program that is one run: a turn of a loop, a call with a name, or what lies between."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tfdbg_cli.capture.budget import memory_budget
from tfdbg_cli.capture.controller import Controller, PendingRun, Plan
from tfdbg_cli.capture.runs.batch_places import batch_places
from tfdbg_cli.capture.runs.eager.checks import Checks
from tfdbg_cli.capture.runs.eager.live_frames import namer, names_at_hand
from tfdbg_cli.capture.runs.eager.pauses import PausedOp
from tfdbg_cli.capture.runs.eager.program.places import is_program
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, calls, line_at
from tfdbg_cli.capture.runs.eager.program.turns import Turn
from tfdbg_cli.capture.runs.eager.recent import RecentOps
from tfdbg_cli.capture.runs.eager.told import told
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.runs import Estimate, Run, RunStart
from tfdbg_cli.model.values import Array

_MOST_KNOWN = 5_000
_NEVER: tuple[Stack, str] = ([], "")
_NAMELESS: dict[int, Stack] = {}  # stacks of ops that read nothing with a name, by their ids
_NAMED: dict[int, tuple[Stack, str]] = {}  # by ids of tensors: where one was read, and its name there
ONE_BY_ONE = "Each op ran on its own, as Python called it; there is no graph but the flow of its data."
_STOPPED_WITHIN = "The program stands in the middle of this run, right behind its last op."
_DROPPED = (
    "The first {} ops of this run are not shown: the last ones fill the memory for them (`config set memory_budget`)."
)


@dataclass(eq=False)
class Section:
    """One part, which grows from its first op on.

    `number` and `plan` are those of the run, None before it is one; `names` are those of its arguments, by id, and
    `read` those of tensors from outside when they were read.
    """

    named: str  # how it is called; empty where its turn tells that
    log: RecentOps
    turn: Turn | None = None
    number: int | None = None
    plan: Plan | None = None
    stopped: bool = False  # whether a value was found in it, so that what is made of that value is no news
    meant: bool = False  # whether something came up in it that is to be judged at its end
    ignored: bool = False  # whether the ops of this part are to be left alone
    checks: Checks | None = None  # what its ops are asked while the same watch is on; None where that is to be found
    names: Mapping[int, str] | None = None
    read: dict[int, str] = field(default_factory=dict)

    def name_fresh(self, stack: Stack) -> None:
        """Note what the program calls those tensors that the op with this stack has just read for the first time.

        To look through all names of all calls takes longer than many ops, and most of what is read anew in each turn
        is what TensorFlow makes by itself, such as axes: where nothing had a name once, nothing is looked for again.
        Nor is it for a tensor that was read at the same place before, as data are that all turns have in common.
        """
        fresh = self.log.fresh
        if id(stack) not in _NAMELESS:
            met = [(key, *_NAMED.get(key, _NEVER)) for key in fresh]
            if all(there is stack for _, there, _ in met):
                self.read.update((key, name) for key, _, name in met)
            else:
                self._look_for_names(fresh, stack)
        fresh.clear()

    def _look_for_names(self, fresh: set[int], stack: Stack) -> None:
        found = names_at_hand(fresh)
        self.read.update(found)
        for known in (_NAMELESS, _NAMED):
            if len(known) > _MOST_KNOWN:
                known.clear()
        if not found:
            _NAMELESS[id(stack)] = stack
        _NAMED.update((key, (stack, name)) for key, name in found.items())

    @property
    def title(self) -> str:
        """How the run is called: in words that are found when somebody looks."""
        return self.named or (self.turn.words if self.turn is not None else "")

    def described(
        self, number: int, feeds: Mapping[str, Array] | None = None, came: Mapping[str, int] | None = None
    ) -> Call:
        """The call for the screen; `came` are the ids of what may have come with a batch."""
        thread = threading.current_thread().name
        loop = "" if self.turn is None else self.turn.place
        places = batch_places(came or {})
        feeds = feeds or {}
        return Call(number, RunKind.EAGER, (), feeds, thread=thread, function=self.title, loop=loop, came=places)

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
        """The section as a run, as far as it is known. `frames` are the calls that run now, amid it or at its end.

        With `news` only the last op counts, and what led to it: what was before has been shown. `paused` is the op
        behind which the program was stopped on demand; it comes to know the variables of the run.
        """
        parts = told(self.log, namer(frames, self.names, self.read), last=news)
        if paused is not None:
            paused.handles = parts.handles
        notes = [ONE_BY_ONE]
        notes += [_STOPPED_WITHIN] * (bool(frames) and not ended)
        notes += [_DROPPED.format(self.log.dropped)] * bool(self.log.dropped)
        return Run(
            self.described(number, parts.feeds, parts.came),
            parts.store,
            parts.graph,
            tracebacks=parts.tracebacks,
            error=error,
            notes=tuple(notes),
            caught=caught,
            frames=() if ended else frames,
            paused=paused,
        )


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
