"""Finds the loops in Python code by its instructions."""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import CodeType

from tfdbg_cli.capture.runs.eager.program.control_flow import JUMPS, control_flow
from tfdbg_cli.capture.runs.eager.program.stacks import by_identity

_COLLECTS = frozenset({"LIST_APPEND", "SET_ADD", "MAP_ADD"})  # a comprehension
_CALLS = frozenset({"CALL", "CALL_FUNCTION_EX", "CALL_KW"})
_NULL_LAST = sys.version_info >= (3, 13)  # whether what is called is pushed before the NULL that stands for no `self`
# Functions and methods that run no ops, but for `float` and its like, which copy a tensor to Python.
_RUN_NO_OPS = frozenset({
    "append", "bool", "clear", "debug", "dict", "enumerate", "extend", "flush", "float", "format", "info", "int",
    "isinstance", "item", "items", "join", "keys", "len", "list", "numpy", "perf_counter", "pop", "print", "range",
    "round", "set_description", "set_postfix", "sleep", "sorted", "str", "time", "tolist", "tuple", "values",
    "warning", "write", "zip",
})  # fmt: skip
_STEP_OF_TRAINING = re.compile(r"GradientTape|apply_gradients|minimize|gradient|train_on_batch")
_WRITES = re.compile(r"assign(_add|_sub)?|apply")
_MAY_TRAIN = re.compile(r"train|update|learn|optimi[sz]e|backward", re.IGNORECASE)
_TRAINS = re.compile(r"_?(train|learn|backward|optimi[sz]e)", re.IGNORECASE)  # as a name begins
_SCHEDULED = re.compile(r"learning_rate|(^|_)lr($|_)")  # is set from epoch to epoch, too
_STEPS = re.compile(r"step", re.IGNORECASE)
_EPOCH = re.compile(r"epoch", re.IGNORECASE)  # `train_epoch` is many steps
_ENVIRONMENT = re.compile(r"(^|_)env(ironment)?s?($|_)", re.IGNORECASE)  # whose steps train nothing


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
    """
    return tuple(loop for loop in all_loops_of(code) if not loop.collects or loop.evidence in (1, 3))


@by_identity
def all_loops_of(code: CodeType) -> tuple[Loop, ...]:
    """The same with comprehensions."""
    instructions = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
    ends: dict[int, int] = {}
    for jump in instructions:
        if jump.opcode not in JUMPS or not isinstance(jump.argval, int) or jump.argval > jump.offset:
            continue
        # What handles an exception stands behind all else and jumps back, too.
        if control_flow(code).always_passes(jump.argval, jump.offset):
            ends[jump.argval] = max(jump.offset, ends.get(jump.argval, 0))
    spans = sorted(ends.items(), key=lambda span: (span[0], -span[1]))
    collecting = {_innermost(spans, i.offset) for i in instructions if _collects(i)}
    found = []
    for start, end in spans:
        within = [
            (one, other) for one, other in spans if (one, other) != (start, end) and start <= one <= other <= end
        ]
        body = [i for i in instructions if start <= i.offset <= end]
        own = [i for i in body if not any(one <= i.offset <= other for one, other in within)]
        steps = any(isinstance(name, str) and _TRAINS.match(name) for _, name in _calls(own))
        found.append(Loop(start, end, _evidence(body), _evidence(own), (start, end) in collecting, steps))
    return tuple(found)


@by_identity
def works_of(code: CodeType) -> tuple[int, ...]:
    """The offsets of the instructions of `code` that may run ops: calls, except of names known to run none, and `@`.

    Other arithmetic is taken to be on plain numbers, such as the mean loss of an epoch.
    """
    return tuple(offset for offset, name in _calls(list(dis.get_instructions(code))) if name not in _RUN_NO_OPS)


def _calls(instructions: Sequence[dis.Instruction]) -> Iterator[tuple[int, object]]:
    """The offsets of calls and of `@`, each with the name of what is called, None where that has none."""
    called: list[object] = []  # names of callees that are pushed and not called yet, the innermost last
    before: dis.Instruction | None = None
    for now in instructions:
        if now.opname == "LOAD_METHOD" or (now.opname in ("LOAD_GLOBAL", "LOAD_ATTR") and "NULL" in now.argrepr):
            called.append(now.argval)
        elif _NULL_LAST and now.opname == "PUSH_NULL":
            called.append(None if before is None else before.argval)
        elif not _NULL_LAST and before is not None and before.opname == "PUSH_NULL":
            called.append(now.argval)
        elif now.opname in _CALLS:
            yield now.offset, called.pop() if called else None
        elif now.argrepr in ("@", "@="):
            yield now.offset, None
        before = now


def _collects(instruction: dis.Instruction) -> bool:
    """Whether it adds to what a comprehension makes: below the iterator, and not on top, as for `f(*a, b)`."""
    return instruction.opname in _COLLECTS and (instruction.arg or 0) > 1


def _innermost(spans: Sequence[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    """The smallest of `spans` around `offset`."""
    around = [span for span in spans if span[0] <= offset <= span[1]]
    return min(around, key=lambda span: span[1] - span[0], default=None)


def _evidence(instructions: Sequence[dis.Instruction]) -> int:
    named = [i.argval for i in instructions if isinstance(i.argval, str)]
    both = [(before, name) for before, name in pairwise(["", *named]) if not _SCHEDULED.search(name)]
    names = {name for before, name in both if not (_WRITES.fullmatch(name) and _SCHEDULED.search(before))}
    if any(map(_STEP_OF_TRAINING.fullmatch, names)):
        return 3
    if any(map(_WRITES.fullmatch, names)):
        return 2
    names = {name for name in names if not _EPOCH.search(name)}
    if any(map(_MAY_TRAIN.search, names)):
        return 1
    return int(any(map(_STEPS.search, names)) and not any(map(_ENVIRONMENT.search, names)))
