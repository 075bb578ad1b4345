"""One turn of one loop of the program, and which Python stacks are in it.

A stack (see `stacks`) holds for each call, the innermost first, a code object and the offset of its instruction. So a
call of `depth` n, which is the nth from the outermost, stands at `stack[-2 * n]`, and its instruction behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from tfdbg_cli.capture.runs.eager.program.control_flow import control_flow
from tfdbg_cli.capture.runs.eager.program.loops import Loop, all_loops_of, loops_of
from tfdbg_cli.capture.runs.eager.program.places import is_program
from tfdbg_cli.capture.runs.eager.program.stacks import Stack


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
        return f"{Path(self.code.co_filename).name}:{self.loop.line}"

    def numbered(self, number: int) -> Turn:
        """The turn of the same loop with that number."""
        return Turn(self.code, self.loop, self.depth, number)

    @property
    def key(self) -> tuple[int, int]:
        """What turns of the same loop have in common."""
        return id(self.code), self.loop.start

    @property
    def words(self) -> str:
        """`turn 3 of train.py:12`; `call 3 of train.py:12` of a function that a package calls again and again."""
        return f"{'call' if self.loop.of_calls else 'turn'} {self.number} of {self.place}"

    def holds(self, stack: Stack) -> bool:
        """Whether `stack` is in the code and the loop of this turn."""
        at = -2 * self.depth
        return len(stack) >= -at and stack[at] is self.code and self.loop.holds(stack[at + 1])

    def is_inside(self, outer: Turn) -> bool:
        """Whether its loop is in a turn of `outer`, where both are around one stack."""
        return self.depth > outer.depth or (self.depth == outer.depth and self.loop.lies_within(outer.loop))

    def has_inner_loop(self, one: int, other: int) -> bool:
        """Whether a loop of the same code, inside this one, holds the instructions at both offsets."""
        return any(
            loop.lies_within(self.loop) and loop.holds(one) and loop.holds(other)
            for loop in all_loops_of(self.code)
        )  # fmt: skip

    def runs_once(self, stack: Stack) -> bool:
        """Whether an op with this stack, which the turn holds, is in no loop inside this one or in a callee."""
        at = -2 * self.depth
        if self.has_inner_loop(stack[at + 1], stack[at + 1]):
            return False
        callees = range(len(stack) + at - 2, -1, -2)  # the program's calls first
        return not any(loop.holds(stack[call + 1]) for call in callees for loop in all_loops_of(stack[call]))

    def passes_always(self, stack: Stack) -> bool:
        """Whether each turn comes to the op with this stack, which the turn holds, by the code of the program."""
        at = -2 * self.depth
        if not control_flow(self.code).always_passes(stack[at + 1], self.loop.end, lets_errors_through=True):
            return False
        callees = ((stack[call], stack[call + 1]) for call in range(len(stack) + at - 2, -1, -2))
        return all(control_flow(code).always_runs(offset) for code, offset in callees if is_program(code))


def turns_around(stack: Stack) -> Iterator[Turn]:
    """A first turn of each loop of the program around this stack, the outermost loop first."""
    depth = len(stack) // 2
    for at in range(len(stack) - 2, -1, -2):
        code, offset = stack[at], stack[at + 1]
        if is_program(code):
            for loop in loops_of(code):
                if loop.holds(offset):
                    yield Turn(code, loop, depth - at // 2, 1)
