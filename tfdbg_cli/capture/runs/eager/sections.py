"""What the threads of a program run eagerly, divided into runs: turns of its loops, and what is between them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf

from tfdbg_cli.capture.budget import memory_budget
from tfdbg_cli.capture.controller import Action, Controller, Plan
from tfdbg_cli.capture.runs.eager.deferred_ops import THREADS
from tfdbg_cli.capture.runs.eager.log.earlier_runs import EarlierRuns
from tfdbg_cli.capture.runs.eager.log.noted_ops import RESOURCE
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.program.loop_choice import outer_loops, prepares_training
from tfdbg_cli.capture.runs.eager.program.places import at_first_call, builds, counts, driven
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, under_here
from tfdbg_cli.capture.runs.eager.program.turn import Turn, turns_around
from tfdbg_cli.capture.runs.eager.program.turns import EagerTurns
from tfdbg_cli.capture.runs.eager.section import PendingSection, Section, between
from tfdbg_cli.capture.tf.compat import EagerTensor, dtype_number, tensor_id, type_in_variable
from tfdbg_cli.capture.tf.reentrancy import AT_WORK, INSIDE
from tfdbg_cli.capture.tf.types import OpInput
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import OF_SHAPES

# Ops that begin no run: they only hand a variable to the program, or find that it is empty or the data have ended.
_NO_WORK = frozenset({
    "ReadVariableOp", "Identity", "VarHandleOp", "VarIsInitializedOp", "IteratorGetNext", "IteratorGetNextAsOptional",
    "OptionalHasValue",
})  # fmt: skip
_ANEW = OF_SHAPES | {"Fill"}  # what a variable is set to with these is computed of no data
_MIXED = (
    "Turns of {} compute with variables beside the functions that they call: of what ran eagerly there, only what"
    " made the arguments of these was recorded. A watch looks at all of it."
)
_LATE = (
    "The first turn of {} was not recorded: no op in it computes with a tf.Variable or what one is set to, and that"
    " it trains is known from the second turn on. `with tfdbg_cli.run():` around a step makes a run of each."
)
_WORKS: dict[int, tuple[Stack, bool]] = {}  # what `_works` said, by the ids of stacks
_MOST_STACKS = 5_000
_SHARE = 8  # the log of a watched section may take an eighth of the memory budget
_MOST = 512 << 20  # bytes; and no more than this


class Here:
    """What is known of one thread: the turn and the section that it is in."""

    def __init__(self) -> None:
        self.turns = EagerTurns()
        self.turn: Turn | None = None
        self.section: Section | None = None
        self.told = 0  # nesting depth of calls that are runs by name
        self.functions = False  # whether runs of functions or sessions were made in this thread
        self.read: set[int] = set()  # ids of values read from variables in a section that is no run yet
        self.functional: set[tuple[int, int]] = set()  # keys of loops in whose turns calls of functions are the runs
        self.outer: set[tuple[int, int]] = set()  # keys of loops in whose turns those of inner loops were runs
        self.begun: set[tuple[int, int]] = set()  # keys of loops whose first turn was a run
        self.begun_between = False  # whether a run was outside of all loops
        self.called = False  # whether a run of a function began in this turn
        self.computed = False  # whether this turn of such a loop computes with variables itself, as a run would
        # Kept here since every op asks for them, and looking them up takes longer than the question.
        self.under = under_here()
        self.deferred = THREADS.here
        self.inside = vars(INSIDE)
        self.at_work = vars(AT_WORK)  # whether tfdbg itself runs ops now

    def in_functional(self) -> bool:
        """Whether the thread is in a loop whose runs are calls of functions (`functional`)."""
        return self.turn is not None and self.turn.key in self.functional

    def leave_turn(self) -> None:
        """Note that the turn is over.

        If it computed with variables and called no function, turns of this loop are runs themselves from now on.
        """
        if self.turn is not None and self.computed and not self.called:
            self.functional.discard(self.turn.key)
        self.called = self.computed = False


class _Threads(threading.local):
    def __init__(self) -> None:
        self.here = Here()


class Sections:
    """The section that each thread is in; one becomes a run once an op of it computes something out of a variable."""

    def __init__(self, controller: Controller, end: Callable[[Here], None]) -> None:
        """Ask `controller` about runs; `end` ends the section in which a thread is."""
        self._controller = controller
        self._end = end
        self.threads = _Threads()
        self._earlier = EarlierRuns()
        # The places of loops whose turns call functions, which are the runs, and compute with variables themselves.
        self._mixed: dict[str, None] = {}
        self._late: dict[str, None] = {}  # the places of loops of which the first turn was no run

    @property
    def left_out(self) -> Sequence[str]:
        """See `controller.Attendant`."""
        told = ((_MIXED, self._mixed), (_LATE, self._late))
        return [sentence.format(", ".join(places)) for sentence, places in told if places]

    @property
    def here(self) -> Here:
        """Where this thread stands."""
        return self.threads.here

    def of(self, here: Here, stack: Stack, *, calls: bool = False) -> Section:
        """The section to which an op with this stack belongs, which may be one that `calls` a function.

        A new one begins where a turn does. So it does in no loop, or where the end of a turn cannot be told, if one
        place calls a function again and again, as `map` does: else it would hold what all these calls were given.
        """
        section = here.section
        if section is not None and here.told:
            return section
        # In a loop whose runs are calls of functions no op begins a run, so nothing waits for one to begin.
        begun = section is None or section.number is not None or section.stopped or here.in_functional()
        turn = here.turns.of(stack, begun=begun, calls=calls)
        endless = calls and (turn is None or not here.turns.end_is_told)
        again = endless and section is not None and section.is_called_again(stack)
        if section is None or turn is not here.turn or again:
            self._end(here)
            if section is not None and section.number is not None:
                self._earlier.note(section.number, section.log.computed)
                if section.turn is not None:
                    loop = section.turn.key
                    self._earlier.note_turn(loop, *section.log.given(self._earlier.given_before(loop)))
            section = self._begin(here, turn, stack)
        if calls:
            section.last_call = stack
        return section

    def _begin(self, here: Here, turn: Turn | None, stack: Stack) -> Section:
        if turn is not here.turn:
            if here.turn is not None and here.computed and here.called:
                self._mixed[here.turn.place] = None
            here.leave_turn()
        here.turn = turn
        here.read.clear()
        section = Section("" if turn is not None else between(stack), self.log(), turn, earlier=self._earlier)
        here.section = section
        return section

    def named(self, title: str, plan: Plan, names: Mapping[int, str], *, at_ops: bool) -> Section:
        """The section of a call that is a run by name; its values are all kept unless a watch looks `at_ops`.

        `names` are the program's names for what the call is given, by the ids of the tensors.
        """
        whole = captures(plan) and (plan.watched is None or (plan.watched.all_runs and not at_ops))
        section = Section(title, self.log(), number=plan.number, plan=plan, whole=whole, names=names)
        if whole:
            section.log.keep_all(memory_budget(self._controller.settings))
        return section

    def log(self) -> RecentOps:
        """A new log for the latest ops of a section."""
        return RecentOps(min(memory_budget(self._controller.settings) // _SHARE, _MOST))

    def start_run(self, here: Here, section: Section, op_type: str, inputs: Sequence[OpInput], stack: Stack) -> None:
        """Make `section` a run if the op that begins now computes with a variable.

        In a thread without runs of functions and sessions any op makes it one, from the second turn on of a loop that
        trains (judged by the names in it), and in the first one that sets a variable to what ops computed there.
        """
        functional = here.in_functional()
        if (functional and here.computed) or not self._computes(here, section, op_type, inputs, stack):
            return
        if functional:
            here.computed = True
        else:
            here.begun_between |= section.turn is None
            if section.turn is not None:
                here.outer.update(outer_loops(section.turn, stack))
                self._note_late(here, section.turn, stack)
            self._start(here, section)

    def _note_late(self, here: Here, turn: Turn, stack: Stack) -> None:
        """Note that a run begins in `turn`, and whether it is the second one of its loop, and the first was none.

        The first may have been in the run of a turn of the loop around it.
        """
        if turn.number == 1:
            here.begun.add(turn.key)
        elif (
            turn.number == 2
            and not (turn.loop.of_calls and here.begun_between)
            and here.begun.isdisjoint(one.key for one in turns_around(stack))
        ):
            self._late[turn.place] = None

    @staticmethod
    def _computes(here: Here, section: Section, op_type: str, inputs: Sequence[OpInput], stack: Stack) -> bool:
        if op_type in _NO_WORK:
            return False
        turn = section.turn
        reads = not updates_variable(op_type) and any(_is_variable(given, here.read) for given in inputs)
        if not reads and not _trains(here, section, op_type, inputs):
            return False
        if turn is not None and prepares_training(turn, stack, with_variables=reads):
            return False
        if not _works(stack):
            return False
        return bool(tf.distribute.get_strategy().num_replicas_in_sync == 1)  # replicas are threads of one step

    def _start(self, here: Here, section: Section) -> None:
        with AT_WORK:
            plan = self._controller.run_starts(PendingSection(section, self._controller))
        section.number, section.plan = plan.number, plan
        asked = self._controller.watched is not None or self._controller.sought is not None
        section.ignored = plan.action is Action.LEAVE and not asked
        if captures(plan) and self._controller.watched is None:  # the user's stop, or a recording
            section.log.keep_all(memory_budget(self._controller.settings))


def _trains(here: Here, section: Section, op_type: str, inputs: Sequence[OpInput]) -> bool:
    """Whether `section` is a step of training, though no op before the one that begins now is given a variable.

    That holds for the second turn of a loop that trains, and for an op that sets a variable to what others computed.
    """
    turn = section.turn
    if here.functions or turn is None or not turn.loop.trains or turn.key in here.outer:
        return False
    if updates_variable(op_type):
        return any(_is_computed(given, section) for given in inputs)
    return turn.number > 1


def _works(stack: Stack) -> bool:
    """Whether the op with this stack may make its section a run: it is the program's, and no housekeeping."""
    known = _WORKS.get(id(stack))
    if known is None:
        if len(_WORKS) > _MOST_STACKS:
            _WORKS.clear()
        works = counts(stack) and not (builds(stack) or driven(stack) or at_first_call(stack))
        known = _WORKS[id(stack)] = stack, works
    return known[1]


def _is_variable(given: OpInput, read: set[int]) -> bool:
    """Whether an op is given a variable, by its handle too, or what was read of one."""
    if type(given) is EagerTensor:
        return tensor_id(given) in read or (dtype_number(given) == RESOURCE and bool(type_in_variable(given)))
    return isinstance(given, tf.Variable) or (type(given) is list and any(_is_variable(one, read) for one in given))


def _is_computed(given: OpInput, section: Section) -> bool:
    """Whether an op of `section` computed what another one is given."""
    made = section.log.maker(tensor_id(given)) if type(given) is EagerTensor else None
    return made is not None and dtype_number(given) != RESOURCE and made[0].op_type not in _ANEW


def captures(plan: Plan | None) -> bool:
    """Whether every value of a run is wanted."""
    return plan is not None and plan.action is Action.CAPTURE
