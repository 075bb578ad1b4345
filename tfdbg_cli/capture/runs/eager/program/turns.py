"""Which turn of which loop of the program an op belongs to, told by the Python stacks of the ops alone.

No tracing of Python is needed for it, which would slow every line. A turn that begins where the one before it ended,
in a function that is called anew, can be taken for the same one; a program that wants to be sure names its runs.
"""

from __future__ import annotations

from tfdbg_cli.capture.runs.eager.program.loop_choice import SeenLoops, takes_for
from tfdbg_cli.capture.runs.eager.program.met_stacks import MetStack, MetStacks
from tfdbg_cli.capture.runs.eager.program.passages import begins_anew, goes_forward, in_same_loop
from tfdbg_cli.capture.runs.eager.program.places import at_first_call, builds
from tfdbg_cli.capture.runs.eager.program.repeated_calls import CallTurn, RepeatedCalls
from tfdbg_cli.capture.runs.eager.program.stacks import Stack
from tfdbg_cli.capture.runs.eager.program.turn import Turn, turns_around

_TRIES = 50  # ops of a turn that are looked at to find one that runs once in it
_NO_MARK: Stack = []


class EagerTurns:
    """Tells the turns of loops in one thread apart, as its ops come.

    A turn has a mark: the stack of an op that runs once in it. When that stack comes again, the next turn has begun.
    """

    def __init__(self) -> None:
        self._last: Stack = []
        self._turn: Turn | None = None
        self._mark = _NO_MARK  # the mark of the turn; empty while none is known
        self._mark_is_sure = False  # whether each turn comes to it: not what only the first one does
        self._tries = 0
        self._is_seen = False  # whether the loop of the turn is known to work (`SeenLoops`)
        self._latest: dict[tuple[int, int], Turn] = {}  # by the key of a loop: its latest turn
        self._loops = SeenLoops()
        self._calls = RepeatedCalls()
        # Whether the loop of the turn was taken since it calls something behind the loop in it: that may run no ops,
        # and then no op tells one turn from the next.
        self.in_doubt = False
        self._first = _NO_MARK  # the stack of the first op of the turn
        self._inner: Turn | None = None  # a turn of an inner loop, which is to take the place of the turn
        self._inner_begins = _NO_MARK  # the stack with which it begins
        self._met = MetStacks()  # of the loop of the turn
        self._met_last = MetStack([])  # of the op before; an empty one where nothing is known of it

    @property
    def end_is_told(self) -> bool:
        """Whether the turn has a mark, so that its end is certainly seen: not if all its ops are in inner loops."""
        return bool(self._mark)

    def goes_on(self, stack: Stack) -> bool:
        """Whether the op with this stack certainly belongs to the turn of the op before, in which a run has begun.

        A quick test that is enough for most ops, whose stack followed the one before in an earlier turn. Where it is
        False, `of` is to be asked.
        """
        place = self._met_last.followed.get(id(stack))
        if place is None or (self._inner_begins and stack == self._inner_begins):
            return False
        if self._mark:
            if not self._is_seen or stack == self._mark:
                return False
        elif not place.repeated:
            if place.repeated is None:
                return False
            self._mark, self._mark_is_sure = stack, False
        self._met_last, self._last = place, stack
        return True

    def of(self, stack: Stack, *, begun: bool = True, calls: bool = False) -> Turn | None:
        """The turn that the op with this stack belongs to, one object for all ops of the turn; None outside loops.

        While no run has `begun` in a turn, its ops may only prepare an inner loop: then a turn of that is preferred.
        The op may be one that `calls` a function.
        """
        if self._inner is not None and stack == self._inner_begins:
            self._last = self._first = stack
            turn = self._begin(self._inner)
            self._met_last = self._met.meet(stack)
            return turn
        if begun and self.goes_on(stack):
            return self._turn
        before, last, self._last = self._turn, self._last, stack
        if begun:
            self._note_that_it_works()
        turn = self._after(last, stack, begun=begun, calls=calls)
        if turn is not before:
            self._first = stack
        elif turn is not None and begun and stack != self._mark:
            self._met.note_followed(last, stack)
        if turn is not None:
            self._seek_mark(turn, stack)
        self._met_last = self._met.known(stack)
        return turn

    def writes_variable(self, stack: Stack) -> None:
        """An op with this stack writes a variable. To be called while the turn is `in_doubt`.

        So an inner loop trains, whatever the names in it are. Unless the outer one is seen to run ops of its own, the
        turns of the inner loop are the runs from the next one on.
        """
        turn = self._turn
        if turn is None or self._mark or self._inner is not None:
            self.in_doubt = False
            return
        if not turn.holds(stack):  # the turn is over, and nobody has asked yet
            return
        inner = next((one for one in turns_around(stack) if one.is_inside(turn)), None)
        if inner is None or (turn.loop.writes and (inner.loop.assigns or not takes_for(inner, turn))):
            self.in_doubt = False
            return
        begins = next((one for one in (self._first, *self._met) if inner.holds(one) and inner.runs_once(one)), None)
        if begins is not None:
            self._loops.training.add(inner.key)
            self._inner_begins = begins
            self._inner = inner.numbered(2)  # the first one was taken for one of the outer loop

    def _note_that_it_works(self) -> None:
        """The turn has a mark and a run begins in it, so its loop runs ops outside of its inner loops."""
        if self._mark and self._turn is not None and not self._is_seen:
            self._is_seen = True
            self._loops.working.add(self._turn.key)
            self._met.forget_passages()

    def _seek_mark(self, turn: Turn, stack: Stack) -> None:
        """Take `stack` for the mark of `turn` if it has none, and an op with this stack runs once in it."""
        if self._mark or not self._tries:
            return
        place = self._met.meet(stack)
        if place.repeated is None and (at_first_call(stack) or builds(stack)):
            place.repeated = True
            return
        self._tries -= 1
        if place.repeated is None:
            place.repeated = not turn.runs_once(stack)
        if not place.repeated:
            self._mark, self._mark_is_sure = stack, turn.passes_always(stack)

    def _after(self, last: Stack, stack: Stack, *, begun: bool, calls: bool) -> Turn | None:
        """The turn of the op with this stack, where the op before it had the stack `last`; see `of`."""
        turn = self._turn
        if turn is None:
            return self._begin(self._found(last, stack))
        ends = self._met.ended(last, stack, self._mark, begun=begun)
        if ends is None and isinstance(turn, CallTurn):
            if not turn.holds(stack):
                return self._begin(self._found(last, stack))
            ends = not turn.goes_on(last, stack, self._mark)
            self._met.note_passage(last, stack, self._mark, begun=begun, ends=ends)
        elif ends is None:
            if not begun and in_same_loop(turn, last, stack):
                inner = self._found(last, stack)
                if inner is not None and (inner.depth, inner.loop.start) > (turn.depth, turn.loop.start):
                    return self._begin(inner)
            if calls and self._comes_again(turn, last, stack):
                ends = True
            elif stack != self._mark and goes_forward(turn, last, stack):
                ends = False
            elif in_same_loop(turn, last, stack):
                ends = begins_anew(turn, last, stack, self._mark)
                if ends and (inner := self._found(last, stack)) is not None and inner.is_inside(turn):
                    self._latest[turn.key] = turn.numbered(turn.number + 1)
                    return self._begin(inner)
            else:
                if not begun:  # it only found that the data have ended, so it gets no number
                    self._latest[turn.key] = turn.numbered(turn.number - 1)
                return self._begin(self._found(last, stack))
            self._met.note_passage(last, stack, self._mark, begun=begun, ends=ends)
        return self._begin(turn.numbered(turn.number + 1)) if ends else turn

    def _comes_again(self, turn: Turn, last: Stack, stack: Stack) -> bool:
        """Whether a function was called again where it was called last, and only the next turn of `turn` can have.

        The mark is asked first, if there is one for sure: what a package calls again and again is one turn.
        """
        return stack == last and not self._mark_is_sure and turn.runs_once(stack)

    def _begin(self, turn: Turn | None) -> Turn | None:
        if turn is None or self._turn is None or (turn.key, turn.depth) != (self._turn.key, self._turn.depth):
            self._met.forget()
        self._turn, self._mark, self._tries = turn, _NO_MARK, _TRIES
        self._inner, self._inner_begins = None, _NO_MARK
        self._is_seen = turn is not None and turn.key in self._loops.working
        self.in_doubt = turn is not None and not self._is_seen and (turn.loop.writes or not turn.loop.trains)
        if turn is not None:
            self._latest[turn.key] = turn
        return turn

    def _found(self, last: Stack, stack: Stack) -> Turn | None:
        """The turn that begins at `stack`, or goes on after an inner loop; `last` is the stack of the op before."""
        found = self._loops.best_around(stack)
        call = self._calls.around(last, stack)
        if call is not None and (found is None or found.is_inside(call)):
            found = call
        known = None if found is None else self._latest.get(found.key)
        if found is None or known is None:
            return found
        goes_on = (
            not (self._turn is not None and found.is_inside(self._turn))  # then it is entered anew
            and known.holds(last)
            and (
                found.goes_on(last, stack, [])
                if isinstance(found, CallTurn)
                else in_same_loop(known, last, stack) and not begins_anew(known, last, stack, [])
            )
        )
        return found.numbered(known.number + (not goes_on))
