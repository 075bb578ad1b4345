"""Whether a turn goes on from one op to the next, told by the Python stacks of both.

All of it compares the instructions at which the calls from the loop inwards stand. Where the first that moved went on
to one that can come behind it in the same turn, the turn goes on; else the next one has begun.
"""

from __future__ import annotations

from types import CodeType

from tfdbg_cli.capture.runs.eager.program.control_flow import control_flow
from tfdbg_cli.capture.runs.eager.program.loops import all_loops_of
from tfdbg_cli.capture.runs.eager.program.places import is_program
from tfdbg_cli.capture.runs.eager.program.stacks import Stack
from tfdbg_cli.capture.runs.eager.program.turn import Turn


def goes_forward(turn: Turn, last: Stack, stack: Stack) -> bool:
    """Whether `stack` is certainly in the same turn as `last`.

    It is if, from the loop's own call inwards, the first call that has moved went forward, and not to the other side
    of a condition, or if none has moved.
    """
    loop = at = -2 * turn.depth
    shorter = min(len(stack), len(last))
    if -loop > shorter or stack[loop] is not last[loop] or stack[loop + 1] > turn.loop.end:
        return False
    while -at <= shorter and stack[at] is last[at] and (at == loop or is_program(stack[at])):
        now, before = stack[at + 1], last[at + 1]
        if now != before:
            if now < before or not _leads(turn, at, stack[at], before, now):
                return False
            break
        at -= 2
    return turn.depth == 1 or bool(stack[loop + 2 :] == last[loop + 2 :])


def in_same_loop(turn: Turn, last: Stack, stack: Stack) -> bool:
    """Whether `stack` is in the loop of `turn`, whose code was called from the same place as in `last`."""
    outer = -2 * (turn.depth - 1) or None
    return turn.holds(stack) and (outer is None or bool(stack[outer:] == last[outer:]))


def begins_anew(turn: Turn, last: Stack, stack: Stack, mark: Stack) -> bool:
    """Whether the loop of `turn` began its next turn between the ops with the stacks `last` and `stack`.

    Both are in that loop. `mark` is the stack of an op that runs once in a turn, or empty.
    """
    at = -2 * turn.depth
    now, before = stack[at + 1], last[at + 1]
    if now != before:
        return not _leads(turn, at, turn.code, before, now)
    # Both ops come from one call instruction in the loop. It was executed again if the called function stands at an
    # earlier instruction now, unless a loop on the way to it goes back without a new turn.
    if turn.has_inner_loop(now, before):
        return stack == mark
    while -at < len(stack) and -at < len(last):
        at -= 2
        code, now, before = stack[at], stack[at + 1], last[at + 1]
        if code is not last[at] or not is_program(code):
            break  # the order of instructions in a library's code says nothing about turns
        if now != before:
            return not _leads(turn, at, code, before, now)
        if any(loop.holds(now) for loop in all_loops_of(code)):
            break
    return stack == mark


def _leads(turn: Turn, at: int, code: CodeType, before: int, now: int) -> bool:
    """Whether the call at `at`, of `code`, may come from the instruction at `before` to that at `now` in one turn."""
    return control_flow(code).leads(before, now, turn.loop.start if at == -2 * turn.depth else None)
