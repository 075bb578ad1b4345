"""What the names in the body of a loop tell of it: whether it trains, takes gradients, or writes variables."""

from __future__ import annotations

import dis
import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from tfdbg_cli.capture.runs.eager.program.called_names import calls_in

_STEP_OF_TRAINING = re.compile(r"GradientTape|apply_gradients|minimize|gradient|train_on_batch")
_TAKES = re.compile(r"GradientTape|gradient|jacobian")
_ASSIGNS = re.compile(r"assign(_add|_sub)?")
_LOOKS_UP = frozenset({"LOAD_METHOD", "LOAD_ATTR"})
_WRITES = re.compile(rf"{_ASSIGNS.pattern}|apply")
_APPLIES = re.compile(r"apply_gradients|minimize|train_on_batch|apply")
_BOTH = re.compile(r"minimize|train_on_batch")
_MAY_TRAIN = re.compile(r"train|update|learn|optimi[sz]e|backward", re.IGNORECASE)
_TRAINS = re.compile(r"_?(train|learn|backward|optimi[sz]e)", re.IGNORECASE)  # as a name begins
_SCHEDULED = re.compile(r"learning_rate|(^|_)lr($|_)")  # is set from epoch to epoch, too
_STEPS = re.compile(r"step", re.IGNORECASE)
_EPOCH = re.compile(r"epoch", re.IGNORECASE)  # `train_epoch` is many steps
_ENVIRONMENT = re.compile(r"(^|_)env(ironment)?s?($|_)", re.IGNORECASE)  # whose steps train nothing


def evidence_of(body: Sequence[dis.Instruction]) -> int:
    """How sure a turn is a step of training: 3 a gradient is taken or applied, 2 a variable written, 1 perhaps, 0."""
    names = _unscheduled(body)
    if any(map(_STEP_OF_TRAINING.fullmatch, names)):
        return 3
    if any(map(_WRITES.fullmatch, names)):
        return 2
    names = {name for name in names if not _EPOCH.search(name)}
    if any(map(_MAY_TRAIN.search, names)):
        return 1
    return int(any(map(_STEPS.search, names)) and not any(map(_ENVIRONMENT.search, names)))


def takes_gradients(body: Sequence[dis.Instruction]) -> bool:
    """Whether gradients are taken in `body`, and nothing called there is named as what applies them."""
    names = _unscheduled(body)
    called = {name for _, name in calls_in(body) if isinstance(name, str)}
    return (
        any(map(_TAKES.fullmatch, names))
        and not any(map(_APPLIES.fullmatch, names))
        and not any(_MAY_TRAIN.search(name) or _STEPS.search(name) for name in called)
    )


def assigns(body: Sequence[dis.Instruction]) -> bool:
    """Whether `body` assigns to variables, other than a learning rate."""
    return any(map(_ASSIGNS.fullmatch, _unscheduled(body)))


def assigns_to_its_items(body: Sequence[dis.Instruction]) -> bool:
    """Whether `body`, of a `for` loop, assigns to what it loops over and nothing else: `for v in …: v.assign()`."""
    begin = next((at for at, i in enumerate(body) if i.opname == "FOR_ITER"), None)
    if begin is None:
        return False
    behind = list(takewhile(lambda i: i.opname.startswith(("STORE_", "UNPACK_")), body[begin + 1 :]))
    items = {name for i in behind if i.opname.startswith("STORE_") for name in _names(i)[: 2 - ("LOAD" in i.opname)]}
    to = [
        _names(before)[-1:] if "LOAD_" in before.opname else []
        for before, i in pairwise(body)
        if isinstance(i.argval, str) and i.opname in _LOOKS_UP and _ASSIGNS.fullmatch(i.argval)
    ]
    return bool(to) and all(items.intersection(names) for names in to)


def _names(instruction: dis.Instruction) -> list[str]:
    """The names that one instruction loads or stores, of which Python 3.13 has two in one."""
    named = instruction.argval
    return list(named) if isinstance(named, tuple) else [named] if isinstance(named, str) else []


def applies_gradients(body: Sequence[dis.Instruction]) -> bool:
    """Whether `body` has an optimizer apply gradients."""
    return any(map(_APPLIES.fullmatch, _unscheduled(body)))


def trains_itself(body: Sequence[dis.Instruction]) -> bool:
    """Whether `body` takes gradients and has an optimizer apply gradients, be it by one call."""
    names = _unscheduled(body)
    return any(map(_BOTH.fullmatch, names)) or (
        any(map(_TAKES.fullmatch, names)) and any(map(_APPLIES.fullmatch, names))
    )


def calls_a_step(body: Sequence[dis.Instruction]) -> bool:
    """Whether `body` calls what is named as a step of training: `train_generator`."""
    return any(isinstance(name, str) and _TRAINS.match(name) for _, name in calls_in(body))


def _unscheduled(body: Sequence[dis.Instruction]) -> set[str]:
    """The names in `body`, but for a learning rate, and what assigns one."""
    named = [i.argval for i in body if isinstance(i.argval, str)]
    both = [(before, name) for before, name in pairwise(["", *named]) if not _SCHEDULED.search(name)]
    return {name for before, name in both if not (_WRITES.fullmatch(name) and _SCHEDULED.search(before))}
