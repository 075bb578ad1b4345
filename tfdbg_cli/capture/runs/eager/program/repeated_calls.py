"""Functions of the program that a package calls again and again, outside of the program's loops.

So does an optimizer of SciPy with the function that it minimizes, and `map` with a step. Each call that trains is a
turn, as of a loop whose body is the function. That it is called again shows with the second call, so the first is
part of what lies before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType

from tfdbg_cli.capture.runs.eager.program.control_flow import control_flow
from tfdbg_cli.capture.runs.eager.program.loops import loop_of_calls
from tfdbg_cli.capture.runs.eager.program.places import is_program
from tfdbg_cli.capture.runs.eager.program.stacks import Stack
from tfdbg_cli.capture.runs.eager.program.turn import Turn


class RepeatedCalls:
    """The functions that were called again in one thread."""

    def __init__(self) -> None:
        self._known: dict[int, CodeType] = {}  # by its id

    def around(self, last: Stack, stack: Stack) -> Turn | None:
        """The turn that is a call of such a function around `stack`; `last` is the stack of the op before.

        Its number is 2, where nothing is known of an earlier one.
        """
        for depth, code in _codes(stack):
            if id(code) in self._known:
                return Turn(code, loop_of_calls(code), depth, 2)
        found = _called_anew(last, stack)
        if found is not None:
            self._known[id(found.code)] = found.code
        return found


def _codes(stack: Stack) -> Iterator[tuple[int, CodeType]]:
    """The code of each call of `stack`, the outermost first, with its depth."""
    return ((depth, stack[-2 * depth]) for depth in range(1, len(stack) // 2 + 1))


def _called_anew(last: Stack, stack: Stack) -> Turn | None:
    """The outermost function of the program that trains and was called anew between the ops with these stacks.

    It is called from where it was called before, or by a package, which may stand elsewhere by now.
    """
    shorter = min(len(last), len(stack)) // 2
    moved = next((d for d in range(1, shorter + 1) if not _stands_alike(last, stack, d)), None)
    if moved is None:
        return None
    code, before = stack[-2 * moved], last[-2 * moved]
    if is_program(code):
        offsets = last[-2 * moved + 1], stack[-2 * moved + 1]
        anew = moved > 1 and code is before and not control_flow(code).leads(*offsets)
        return _turn(code, moved) if anew else None
    own = [next(((d, c) for d, c in _codes(one) if d > moved and is_program(c)), None) for one in (last, stack)]
    if own[0] is None or own[1] is None or own[0][1] is not own[1][1]:
        return None
    return _turn(own[1][1], own[1][0])


def _stands_alike(last: Stack, stack: Stack, depth: int) -> bool:
    """Whether both stacks stand at the same instruction of the same code at `depth`."""
    at = -2 * depth
    return last[at] is stack[at] and last[at + 1] == stack[at + 1]


def _turn(code: CodeType, depth: int) -> Turn | None:
    loop = loop_of_calls(code)
    return Turn(code, loop, depth, 2) if loop.own_evidence == 3 else None
