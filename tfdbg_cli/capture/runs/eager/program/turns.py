"""Which turn of which loop of the program an op belongs to, told by the Python stacks of the ops alone.

No tracing of Python is needed for it, which would slow every line. A turn that begins where the one before it ended,
in a function that is called anew, can be taken for the same one; a program that wants to be sure names its runs.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType

from tfdbg_cli.capture.runs.eager.program.loops import Loop, all_loops_of, loops_of, works_of
from tfdbg_cli.capture.runs.eager.program.places import is_program
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, line_at

_MOST_PAIRS = 5_000
_TRIES = 50  # ops of a turn that are looked at to find one that runs once in it
_NO_MARK: Stack = []


@dataclass(frozen=True, eq=False, slots=True)
class Turn:
    """One turn of `loop` in `code`: its `number`, from 1, and the `depth` of the call of `code`, 1 for the outermost.

    The number goes on where the loop begins again, as the loop over the batches does in each epoch.
    """

    code: CodeType
    loop: Loop
    depth: int
    number: int

    @property
    def place(self) -> str:
        """`train.py:12`, the line with which the loop begins."""
        return f"{Path(self.code.co_filename).name}:{line_at(self.code, self.loop.start)}"

    def numbered(self, number: int) -> Turn:
        """The turn of the same loop with that number."""
        return Turn(self.code, self.loop, self.depth, number)

    @property
    def key(self) -> tuple[int, int]:
        """What turns of the same loop have in common."""
        return id(self.code), self.loop.start

    @property
    def words(self) -> str:
        """`turn 3 of train.py:12`."""
        return f"turn {self.number} of {self.place}"


@dataclass(eq=False, slots=True)
class _Place:
    """A stack that was met in turns of one loop.

    `followed` are the stacks that came next in the same turn, by their ids, without the mark of the turn (see
    `EagerTurns`). A stack that is `repeated` is in an inner loop, so it is no mark; None where nobody asked yet.
    """

    stack: Stack
    followed: dict[int, _Place] = field(default_factory=dict)
    repeated: bool | None = None


class EagerTurns:
    """Tells the turns of loops in one thread apart, as its ops come.

    A turn has a mark: the stack of an op that runs once in it. When that stack comes again, the next turn has begun.
    """

    def __init__(self) -> None:
        self._last: Stack = []
        self._turn: Turn | None = None
        self._mark = _NO_MARK  # the mark of the turn; empty while none is known
        self._tries = 0
        self._is_learned = False  # whether the loop of the turn is in `_working`
        self._latest: dict[tuple[int, int], Turn] = {}  # by the key of a loop: its latest turn
        self._working: set[tuple[int, int]] = set()  # keys of loops that run ops outside of their inner loops
        self._training: set[tuple[int, int]] = set()  # keys of loops that were seen to write variables
        # Whether the loop of the turn was taken since it calls something behind the loop in it: that may run no ops,
        # and then no op tells one turn from the next.
        self.in_doubt = False
        self._first = _NO_MARK  # the stack of the first op of the turn
        self._ends_at = _NO_MARK  # the stack with which a turn of `_next` begins, in the place of the turn
        self._next: Turn | None = None
        # What is known of stacks, by their ids; forgotten when turns of another loop begin.
        self._places: dict[int, _Place] = {}
        self._pairs = 0  # entries in all `followed`
        # Whether a turn of the loop ended (True) between two ops, by the ids of their stacks and of the mark, and by
        # whether a run had begun; with these stacks. Forgotten with `_places`, and where another loop is learned.
        self._passages: dict[tuple[int, int, int, bool], tuple[bool, tuple[Stack, ...]]] = {}
        self._place = _Place([])  # of the op before; an empty one where nothing is known of it

    @property
    def end_is_told(self) -> bool:
        """Whether the turn has a mark, so that its end is certainly seen: not if all its ops are in inner loops."""
        return bool(self._mark)

    def goes_on(self, stack: Stack) -> bool:
        """Whether the op with this stack certainly belongs to the turn of the op before, in which a run has begun.

        A quick test that is enough for most ops, whose stack followed the one before in an earlier turn. Where it is
        False, `of` is to be asked.
        """
        place = self._place.followed.get(id(stack))
        if place is None or (self._ends_at and stack == self._ends_at):
            return False
        if self._mark:
            if not self._is_learned or stack == self._mark:
                return False
        elif not place.repeated:
            if place.repeated is None:
                return False
            self._mark = stack
        self._place, self._last = place, stack
        return True

    def of(self, stack: Stack, *, begun: bool = True) -> Turn | None:
        """The turn that the op with this stack belongs to, one object for all ops of the turn; None outside loops.

        While no run has `begun` in a turn, its ops may only prepare an inner loop: then a turn of that is preferred.
        """
        if self._next is not None and stack == self._ends_at:
            self._last = self._first = stack
            turn = self._begin(self._next)
            self._place = self._place_of(stack)
            return turn
        turn = before = self._turn
        if begun and self.goes_on(stack):
            return turn
        last, self._last = self._last, stack
        if begun and self._mark and turn is not None and not self._is_learned:
            self._is_learned = True
            self._working.add(turn.key)
            self._passages.clear()
        known = self._passages.get((id(last), id(stack), id(self._mark), begun))
        if known is None or turn is None:
            turn = self._after(last, stack, begun=begun)
        elif known[0]:
            turn = self._begin(turn.numbered(turn.number + 1))
        if turn is not before:
            self._first = stack
        if turn is not None and turn is before and begun and stack != self._mark:
            if self._pairs > _MOST_PAIRS:
                self._forget_stacks()
            self._pairs += 1
            self._place_of(last).followed[id(stack)] = self._place_of(stack)
        if turn is not None and not self._mark and self._tries:
            self._tries -= 1
            place = self._place_of(stack)
            if place.repeated is None:
                place.repeated = not _runs_once(turn, stack)
            if not place.repeated:
                self._mark = stack
        self._place = self._places.get(id(stack)) or _Place(stack)
        return turn

    def writes_variable(self, stack: Stack) -> None:
        """An op with this stack writes a variable. To be called while the turn is `in_doubt`.

        So an inner loop trains, whatever the names in it are. Unless the outer one is seen to run ops of its own, the
        turns of the inner loop are the runs from the next one on.
        """
        turn = self._turn
        if turn is None or self._mark or self._next is not None:
            self.in_doubt = False
            return
        if not _is_in(turn, stack):  # the turn is over, and nobody has asked yet
            return
        inner = next((one for one in _around(stack) if _is_inside(one, turn)), None)
        if inner is None:
            self.in_doubt = False
            return
        met = (self._first, *(place.stack for place in self._places.values()))
        ends_at = next((one for one in met if _is_in(inner, one) and _runs_once(inner, one)), None)
        if ends_at is not None:
            self._training.add(inner.key)
            self._ends_at, self._next = ends_at, inner.numbered(2)  # the first was taken for one of the outer loop

    def _after(self, last: Stack, stack: Stack, *, begun: bool) -> Turn | None:
        """The turn of the op with this stack, where the op before it had the stack `last`; see `of`."""
        turn = self._turn
        if turn is not None and not begun and _in_same_loop(turn, last, stack):
            inner = self._found(last, stack)
            if inner is not None and (inner.depth, inner.loop.start) > (turn.depth, turn.loop.start):
                return self._begin(inner)
        if turn is not None and stack != self._mark and _goes_on(turn, last, stack):
            self._note_passage(last, stack, begun=begun, ends=False)
        elif turn is None or not _in_same_loop(turn, last, stack):
            if turn is not None and not begun:  # it only found that the data have ended, so it gets no number
                self._latest[turn.key] = turn.numbered(turn.number - 1)
            turn = self._begin(self._found(last, stack))
        else:
            ends = _begins_anew(turn, last, stack, self._mark)
            self._note_passage(last, stack, begun=begun, ends=ends)
            if ends:
                turn = self._begin(turn.numbered(turn.number + 1))
        return turn

    def _note_passage(self, last: Stack, stack: Stack, *, begun: bool, ends: bool) -> None:
        if len(self._passages) > _MOST_PAIRS:
            self._passages.clear()
        stacks = last, stack, self._mark
        self._passages[id(last), id(stack), id(self._mark), begun] = ends, stacks

    def _place_of(self, stack: Stack) -> _Place:
        found = self._places.get(id(stack))
        if found is None:
            found = self._places[id(stack)] = _Place(stack)
        return found

    def _forget_stacks(self) -> None:
        for place in self._places.values():
            place.followed.clear()  # places refer to each other in circles
        self._places.clear()
        self._passages.clear()
        self._pairs = 0

    def _begin(self, turn: Turn | None) -> Turn | None:
        if turn is None or self._turn is None or (turn.key, turn.depth) != (self._turn.key, self._turn.depth):
            self._forget_stacks()
        self._turn, self._mark, self._tries = turn, _NO_MARK, _TRIES
        self._ends_at, self._next = _NO_MARK, None
        self._is_learned = turn is not None and turn.key in self._working
        self.in_doubt = turn is not None and not (turn.loop.trains or self._is_learned)
        if turn is not None:
            self._latest[turn.key] = turn
        return turn

    def _found(self, last: Stack, stack: Stack) -> Turn | None:
        """The turn that begins at `stack`, or goes on after an inner loop; `last` is the stack of the op before."""
        found = _found(stack, self._working, self._training)
        known = None if found is None else self._latest.get(found.key)
        if found is None or known is None:
            return found
        goes_on = (
            not (self._turn is not None and _is_inside(found, self._turn))  # then it is entered anew
            and _is_in(known, last)
            and _in_same_loop(known, last, stack)
            and not _begins_anew(known, last, stack, [])
        )
        return found.numbered(known.number + (not goes_on))


def _found(stack: Stack, working: Container[tuple[int, int]], training: Container[tuple[int, int]]) -> Turn | None:
    """A first turn of that loop around this stack whose turns make the best runs; None where it is in no loop.

    Among loops that train it is the innermost, so that a run is a step and not an epoch. Among others it is the
    outermost that runs ops outside of its inner loops: without such ops, one turn of the loop over the epochs cannot
    be told from the next. `working` has the keys of loops that are known to run such ops, `training` those of loops
    that were seen to train.
    """
    best: Turn | None = None
    for turn in _around(stack):
        if best is None or _is_better(turn, best, stack, working, training):
            best = turn
    return best


def _around(stack: Stack) -> Iterator[Turn]:
    """A first turn of each loop of the program around this stack, the outermost loop first."""
    depth = len(stack) // 2
    for at in range(len(stack) - 2, -1, -2):
        code, offset = stack[at], stack[at + 1]
        if is_program(code):
            for loop in loops_of(code):
                if loop.holds(offset):
                    yield Turn(code, loop, depth - at // 2, 1)


def _is_inside(inner: Turn, outer: Turn) -> bool:
    """Whether the loop of `inner` is in a turn of `outer`; both are around one stack."""
    return inner.depth > outer.depth or (inner.depth == outer.depth and inner.loop.lies_within(outer.loop))


def _is_better(
    inner: Turn,
    outer: Turn,
    stack: Stack,
    working: Container[tuple[int, int]],
    training: Container[tuple[int, int]],
) -> bool:
    """Whether turns of the loop of `inner` make better runs than those of `outer`, which is around it."""
    if inner.loop.trains or outer.loop.trains:
        return inner.loop.trains >= max(outer.loop.trains, 1)
    return outer.key not in working and (inner.key in training or not _works_behind(outer, inner, stack))


def _works_behind(outer: Turn, inner: Turn, stack: Stack) -> bool:
    """Whether a turn of `outer` may run ops after the loop of `inner` inside it; `stack` is within both loops."""
    at, ends = -2 * inner.depth, inner.loop.end
    while True:
        end = outer.loop.end if at == -2 * outer.depth else math.inf
        if any(ends < offset <= end for offset in works_of(stack[at])):
            return True
        if at == -2 * outer.depth:
            return False
        at += 2
        ends = stack[at + 1]


def outer_loops(turn: Turn, stack: Stack) -> Iterator[tuple[int, int]]:
    """The keys of the loops around that of `turn` that only lead to it, if it trains; `stack` is within it.

    A loop that writes variables and takes no gradients may be a part of the step.
    """
    evidence = turn.loop.evidence
    if evidence in (1, 3):
        for outer in _around(stack):
            if outer.key != turn.key and _is_inside(turn, outer) and outer.loop.own_evidence < evidence:
                yield outer.key


def prepares_training(turn: Turn, stack: Stack, *, with_variables: bool) -> bool:
    """Whether the op with this stack is of `turn` and comes before a loop in it that trains, as its own calls do not.

    So an epoch begins with a shuffle, or a sum of losses. What computes `with_variables` may be of a step that goes
    on in the loop, as an evaluation does that updates metrics there, unless gradients are taken in it.
    """
    own, offset = max(turn.loop.own_evidence, 2 * with_variables), stack[-2 * turn.depth + 1]
    later = (loop for loop in loops_of(turn.code) if loop.lies_within(turn.loop) and loop.start > offset)
    return any(loop.evidence > own for loop in later)


def _goes_on(turn: Turn, last: Stack, stack: Stack) -> bool:
    """Whether `stack` is certainly in the same turn as `last`.

    It is if, from the loop's own call inwards, the first call that has moved went forward, or if none has moved.
    """
    loop = at = -2 * turn.depth
    shorter = min(len(stack), len(last))
    if -loop > shorter or stack[loop] is not last[loop] or stack[loop + 1] > turn.loop.end:
        return False
    while -at <= shorter and stack[at] is last[at] and (at == loop or is_program(stack[at])):
        now, before = stack[at + 1], last[at + 1]
        if now < before:
            return False
        if now > before:
            break
        at -= 2
    return turn.depth == 1 or bool(stack[loop + 2 :] == last[loop + 2 :])


def _in_same_loop(turn: Turn, last: Stack, stack: Stack) -> bool:
    """Whether `stack` is in the loop of `turn`, whose code was called from the same place as in `last`."""
    outer = -2 * (turn.depth - 1) or None
    return _is_in(turn, stack) and (outer is None or bool(stack[outer:] == last[outer:]))


def _is_in(turn: Turn, stack: Stack) -> bool:
    """Whether `stack` is in the code and the loop of `turn`."""
    at = -2 * turn.depth
    return len(stack) >= -at and stack[at] is turn.code and turn.loop.holds(stack[at + 1])


def _begins_anew(turn: Turn, last: Stack, stack: Stack, mark: Stack) -> bool:
    """Whether the loop of `turn` began its next turn between the ops with the stacks `last` and `stack`."""
    at = -2 * turn.depth
    now, before = stack[at + 1], last[at + 1]
    if now != before:
        return bool(now < before and not _in_loop_of_its_own(turn, now, before))
    # Both ops come from one call instruction in the loop. It was executed again if the called function stands at an
    # earlier instruction now, unless a loop on the way to it goes back without a new turn.
    if _in_loop_of_its_own(turn, now, before):
        return stack == mark
    while -at < len(stack) and -at < len(last):
        at -= 2
        code, now, before = stack[at], stack[at + 1], last[at + 1]
        if code is not last[at] or not is_program(code):
            break  # the order of instructions in a library's code says nothing about turns
        if now != before:
            within = (loop.holds(now) and loop.holds(before) for loop in all_loops_of(code))
            return bool(now < before and not any(within))
        if any(loop.holds(now) for loop in all_loops_of(code)):
            break
    return stack == mark


def _runs_once(turn: Turn, stack: Stack) -> bool:
    """Whether the op with this stack is in no loop inside the loop of `turn`, its callees included."""
    offset = stack[-2 * turn.depth + 1]
    if _in_loop_of_its_own(turn, offset, offset):
        return False
    for at in range(len(stack) - 2 * turn.depth - 2, -1, -2):  # the program's calls first
        for loop in all_loops_of(stack[at]):
            if loop.holds(stack[at + 1]):
                return False
    return True


def _in_loop_of_its_own(turn: Turn, one: int, other: int) -> bool:
    """Whether a loop inside the loop of `turn` holds both instruction offsets."""
    return any(
        loop.lies_within(turn.loop) and loop.holds(one) and loop.holds(other)
        for loop in all_loops_of(turn.code)
    )  # fmt: skip
