"""Functions of the program that a package calls again and again, outside of the program's loops.

So does an optimizer of SciPy with the function that it minimizes, and `map` with a step. From each call that trains
to the next one is a turn, what the package runs in between included. That it is called again shows with the second
call, so the first is part of what lies before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from types import CodeType

from tfdbg_cli.capture.runs.eager.program.loops import calls_gradients, loop_of_calls
from tfdbg_cli.capture.runs.eager.program.passages import begins_anew
from tfdbg_cli.capture.runs.eager.program.places import is_program
from tfdbg_cli.capture.runs.eager.program.stacks import Stack
from tfdbg_cli.capture.runs.eager.program.turn import Turn

_MOST_SEEN = 1_000


@dataclass(frozen=True, eq=False, slots=True)
class CallTurn(Turn):
    """A turn that is a call of the function `code`, and all behind it up to the next one; `around` are calls outside.

    The function may be called at another depth each time, as the package comes to it by other ways.
    """

    around: Stack

    def numbered(self, number: int) -> CallTurn:
        return CallTurn(self.code, self.loop, self.depth, number, self.around)

    def holds(self, stack: Stack) -> bool:
        """Whether `stack` is within the same call of the program's as the function was."""
        return len(stack) > len(self.around) and (not self.around or stack[-len(self.around) :] == self.around)

    def runs_once(self, stack: Stack) -> bool:
        within = self._within(stack)
        return within is not None and Turn.runs_once(within, stack)

    def goes_on(self, last: Stack, stack: Stack, mark: Stack) -> bool:
        """Whether the function was not called anew between the ops with the stacks `last` and `stack`."""
        now, before = self._within(stack), self._within(last)
        if now is None:
            return True
        if before is None or before.depth != now.depth or _outside(last, now) != _outside(stack, now):
            return False
        return not begins_anew(now, last, stack, mark)

    def _within(self, stack: Stack) -> Turn | None:
        """The turn with the depth at which the function stands in `stack`; None where it does not."""
        depths = range(len(self.around) // 2 + 1, len(stack) // 2 + 1)
        depth = next((depth for depth in depths if stack[-2 * depth] is self.code), None)
        return None if depth is None else Turn(self.code, self.loop, depth, self.number)


class RepeatedCalls:
    """The functions that were called in one thread, and those that were called again."""

    def __init__(self) -> None:
        self._seen: dict[int, CallTurn] = {}  # by the id of the code, the latest call
        self._again: set[int] = set()  # those that were called again

    def around(self, last: Stack, stack: Stack) -> CallTurn | None:
        """The turn that is a call of such a function around `stack`; `last` is the stack of the op before.

        Its number is 2, where nothing is known of an earlier one.
        """
        for depth, code in _candidates(stack):
            call = CallTurn(code, loop_of_calls(code), depth, 2, _program_around(stack, depth))
            seen = self._seen.get(id(code))
            if len(self._seen) > _MOST_SEEN:
                self._seen.clear()
            self._seen[id(code)] = call
            if seen is None or seen.around != call.around:
                continue
            if id(code) in self._again or not call.goes_on(last, stack, []):
                self._again.add(id(code))
                return call
        return None


def _candidates(stack: Stack) -> Iterator[tuple[int, CodeType]]:
    """The functions of the program in `stack` that look like a step of training, the outermost first, with depths."""
    for depth in range(2, len(stack) // 2 + 1):
        code = stack[-2 * depth]
        if is_program(code) and code.co_flags & CO_OPTIMIZED:  # no module, which runs once
            evidence = loop_of_calls(code).own_evidence
            if evidence == 3 or (evidence == 2 and calls_gradients(code)):
                yield depth, code


def _program_around(stack: Stack, depth: int) -> Stack:
    """The calls from the outermost to the innermost one of the program's outside of that of `depth`."""
    own = next((at for at in range(depth - 1, 0, -1) if is_program(stack[-2 * at])), 0)
    return stack[-2 * own :] if own else []


def _outside(stack: Stack, turn: Turn) -> Stack:
    """The calls outside of the function of `turn`."""
    return stack[-2 * (turn.depth - 1) :] if turn.depth > 1 else []
