"""Finds the loops in Python code by its instructions."""

from __future__ import annotations

import dis
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType

from tfdbg_cli.capture.runs.eager.program.called_names import calls_in
from tfdbg_cli.capture.runs.eager.program.control_flow import JUMPS, control_flow
from tfdbg_cli.capture.runs.eager.program.evidence import (
    applies_gradients,
    assigns,
    assigns_to_its_items,
    calls_a_step,
    evidence_of,
    takes_gradients,
    trains_itself,
)
from tfdbg_cli.capture.runs.eager.program.stacks import by_identity, line_at, noted_line_at

_AWAITS = "JUMP_BACKWARD_NO_INTERRUPT"  # of `await` and `yield from`, which wait where they stand
_COLLECTS = frozenset({"LIST_APPEND", "SET_ADD", "MAP_ADD"})  # a comprehension
# Functions and methods that run no ops, but for `float` and its like, which copy a tensor to Python.
_RUN_NO_OPS = frozenset({
    "append", "bool", "clear", "debug", "dict", "enumerate", "extend", "flush", "float", "format", "info", "int",
    "isinstance", "item", "items", "join", "keys", "len", "list", "numpy", "perf_counter", "pop", "print", "range",
    "round", "set_description", "set_postfix", "sleep", "sorted", "str", "time", "tolist", "tuple", "values",
    "warning", "write", "zip",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Loop:
    """The body of a loop: the offsets of its first and last instruction.

    `evidence` tells, by the names in the body, whether a turn is a step of training, `own_evidence` by those outside
    of the loops in it: 3 a gradient is taken or applied, 2 something is written, 1 it may be, 0 it is none.
    """

    start: int
    end: int
    evidence: int = 0
    own_evidence: int = 0
    collects: bool = False  # the loop of a comprehension: its turns are runs only if they train
    steps: bool = False  # whether it calls, outside of the loops in it, what is named as a step: `train_generator`
    takes: bool = False  # whether gradients are taken in it and, by the names, not applied by an optimizer
    assigns: bool = False  # whether variables are assigned to in it
    applies: bool = False  # whether an optimizer applies gradients in it, but where loops in it take gradients
    writes: bool = False  # whether it applies or assigns there
    adds_up: bool = False  # whether a loop in it takes the gradients of one of its steps
    line: int = 0  # with which it begins
    over_variables: bool = False  # whether it assigns to what it loops over
    of_calls: bool = False  # whether it is a whole function: a turn is a call of it
    own_step: bool = False  # whether it takes gradients and applies them, outside of the loops in it

    @property
    def trains(self) -> int:
        """Whether a turn is a step of training: 2 for sure, 1 perhaps, 0 no."""
        return min(self.evidence, 2)

    def lies_within(self, other: Loop) -> bool:
        """Whether it is a loop in the body of `other`."""
        return self is not other and other.start <= self.start and self.end <= other.end

    def holds(self, offset: int) -> bool:
        """Whether the instruction at `offset` is in it."""
        return self.start <= offset <= self.end


@by_identity
def loops_of(code: CodeType) -> tuple[Loop, ...]:
    """The loops of `code` whose turns may be runs; an outer loop comes before those in it.

    Comprehensions are not among them, such as one that writes all variables, but for one that calls what trains.
    Neither are loops over variables, which are a part of a step.
    """
    loops = (loop for loop in all_loops_of(code) if not (loop.over_variables and loop.evidence == 2))
    return tuple(loop for loop in loops if not loop.collects or loop.evidence in (1, 3))


@by_identity
def all_loops_of(code: CodeType) -> tuple[Loop, ...]:
    """The same with comprehensions."""
    instructions = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
    ends: dict[int, int] = {}
    for jump in instructions:
        if jump.opcode not in JUMPS or not isinstance(jump.argval, int) or jump.argval > jump.offset:
            continue
        if jump.opname == _AWAITS:
            continue
        # What handles an exception stands behind all else and jumps back, too.
        if control_flow(code).always_passes(jump.argval, jump.offset):
            ends[jump.argval] = max(jump.offset, ends.get(jump.argval, 0))
    spans = sorted(ends.items(), key=lambda span: (span[0], -span[1]))
    collecting = {_innermost(spans, i.offset) for i in instructions if _collects(i)}
    found: list[Loop] = []
    for start, end in sorted(spans, key=lambda span: span[1] - span[0]):  # those within a loop come before it
        body = [i for i in instructions if start <= i.offset <= end]
        within = [loop for loop in found if start <= loop.start and loop.end <= end]
        own = _outside(body, within)
        taking = [loop for loop in within if loop.takes]
        beside = _outside(body, taking)
        applies, assigned = applies_gradients(beside), assigns(beside)
        found.append(
            Loop(
                start,
                end,
                evidence_of(body),
                evidence_of(own),
                collects=(start, end) in collecting,
                steps=calls_a_step(own),
                takes=takes_gradients(body),
                assigns=assigns(body),
                applies=applies,
                writes=applies or assigned,
                adds_up=any(applies or (assigned and not loop.assigns) for loop in taking),
                own_step=trains_itself(own),
                over_variables=assigns_to_its_items(body),
                line=_first_line(code, start, end),
            )
        )
    return tuple(sorted(found, key=lambda loop: (loop.start, -loop.end)))


def _first_line(code: CodeType, start: int, end: int) -> int:
    """The line with which a loop begins: at its end a `while` asks again, and a `for` may have no line there."""
    begins, asks = line_at(code, start), noted_line_at(code, end)
    return begins if asks is None else min(begins, asks)


@by_identity
def loop_of_calls(code: CodeType) -> Loop:
    """`code`, which is called again and again from outside of the program, as the body of a loop."""
    body = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
    own = _outside(body, all_loops_of(code))
    end = body[-1].offset
    return Loop(0, end, evidence_of(body), evidence_of(own), line=code.co_firstlineno, of_calls=True)


@by_identity
def calls_gradients(code: CodeType) -> bool:
    """Whether `code` calls what is named as what computes gradients: `compute_grads`."""
    called = calls_in([i for i in dis.get_instructions(code) if i.opname != "CACHE"])
    return any(isinstance(name, str) and "grad" in name for _, name in called)


@by_identity
def works_of(code: CodeType) -> tuple[int, ...]:
    """The offsets of the instructions of `code` that may run ops: calls, except of names known to run none, and `@`.

    Other arithmetic is taken to be on plain numbers, such as the mean loss of an epoch.
    """
    return tuple(offset for offset, name in calls_in(list(dis.get_instructions(code))) if name not in _RUN_NO_OPS)


def _collects(instruction: dis.Instruction) -> bool:
    """Whether it adds to what a comprehension makes: below the iterator, and not on top, as for `f(*a, b)`."""
    return instruction.opname in _COLLECTS and (instruction.arg or 0) > 1


def _outside(body: Sequence[dis.Instruction], loops: Sequence[Loop]) -> list[dis.Instruction]:
    """The instructions of `body` in none of `loops`."""
    return [i for i in body if not any(loop.holds(i.offset) for loop in loops)]


def _innermost(spans: Sequence[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    """The smallest of `spans` around `offset`."""
    around = [span for span in spans if span[0] <= offset <= span[1]]
    return min(around, key=lambda span: span[1] - span[0], default=None)
