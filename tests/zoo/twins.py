"""A program run twice from the same state, undebugged and with every run captured, and compared bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import DebugRun, Decision
from tfdbg_cli.model.runs import Run, RunEnd, Stop

_OTHER_COURSES = 5


class Witness:
    """A front end that has every run captured, and keeps what it was shown."""

    failures = 0
    broken = False

    def __init__(self, keep: int = 20) -> None:
        self.settings = Settings()
        self.runs: list[Run] = []
        self.count = 0  # runs captured
        self.tensors = 0
        self.said: list[str] = []
        self._keep = keep

    def stop(self, event: Stop) -> Decision:
        if isinstance(event, RunEnd):
            self.count += 1
            self.tensors += len(event.run.tensors)
            self.runs = [*self.runs, event.run][-self._keep :]
        return DebugRun()

    def notify(self, message: str) -> None:
        self.said.append(message)

    @property
    def notes(self) -> set[str]:
        return {note for run in self.runs for note in run.notes}


@contextmanager
def witnessed(front: Witness | None = None) -> Iterator[Witness]:
    """The whole process debugged by the public way, with `front` in the place of a person."""
    from tfdbg_cli.api import process, process_debugger

    front = front or Witness()
    process_debugger.process_debugger.cache_clear()
    with mock.patch.object(process_debugger, "choose_frontend", lambda *_, **__: front):
        try:
            with process.debugging():
                yield front
        finally:
            process_debugger.process_debugger.cache_clear()


@contextmanager
def witnessed_function(function: Any) -> Iterator[tuple[Any, Witness]]:
    """`function` wrapped by the public way, and the witness of its runs."""
    from tfdbg_cli.api import process, process_debugger

    front = Witness()
    process_debugger.process_debugger.cache_clear()
    with mock.patch.object(process_debugger, "choose_frontend", lambda *_, **__: front):
        try:
            yield process.wrap_function(function), front
        finally:
            process_debugger.process_debugger.cache_clear()


@dataclass
class Program:
    """A step to be repeated: it gives any nesting of tensors and arrays. `state` gives the variables to compare."""

    step: Callable[[], Any]
    state: Callable[[], Sequence[Any]] = field(default=tuple)


@dataclass(frozen=True)
class Course:
    """What a program gave: the flat results of every step as arrays, the state behind them, the exception if any."""

    results: list[list[Any]]
    state: list[Any]
    error: tuple[type, str] | None


def arrays(nest: Any) -> list[Any]:
    """Every leaf of `nest` as an array, composite tensors by their parts."""
    import tensorflow as tf

    return [_array(leaf) for leaf in tf.nest.flatten(nest, expand_composites=True) if leaf is not None]


def _array(value: Any) -> Any:
    """A copy of `value`, a tensor, a variable or an array."""
    return np.array(value.numpy() if hasattr(value, "numpy") else value)


def course(program: Program, steps: int) -> Course:
    results: list[list[Any]] = []
    error = None
    try:
        for _ in range(steps):
            results.append(arrays(program.step()))
    except Exception as raised:  # noqa: BLE001  # whatever it is, it is compared
        error = (type(raised), str(raised))
    return Course(results, [_array(variable) for variable in program.state()], error)


def assert_identical(plain: Course, debugged: Course) -> None:
    assert debugged.error == plain.error
    assert len(debugged.results) == len(plain.results)
    for step, (before, after) in enumerate(zip(plain.results, debugged.results, strict=True)):
        _assert_same(before, after, f"result of step {step}")
    _assert_same(plain.state, debugged.state, "state")


def _assert_same(before: Sequence[Any], after: Sequence[Any], what: str) -> None:
    assert len(before) == len(after), what
    for index, (a, b) in enumerate(zip(before, after, strict=True)):
        assert a.dtype == b.dtype and a.shape == b.shape, f"{what}, {index}"
        if a.dtype == object:
            assert a.tolist() == b.tolist(), f"{what}, {index}"
        elif a.tobytes() != b.tobytes():
            apart = np.abs(a.astype(np.float64) - b.astype(np.float64)).max()
            raise AssertionError(f"{what}, {index}, {a.dtype}{list(a.shape)}: differ by up to {apart}")


def seeded(build: Callable[[], Program]) -> Program:
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(7)
    tf.random.set_seed(7)
    return build()


def assert_close(plain: Course, debugged: Course) -> None:
    """Equal but for rounding, which the steps in between may have made larger."""
    assert debugged.error is None and plain.error is None
    for before, after in zip((*plain.results, plain.state), (*debugged.results, debugged.state), strict=True):
        for a, b in zip(before, after, strict=True):
            np.testing.assert_allclose(b.astype(np.float64), a.astype(np.float64), rtol=1e-3, atol=1e-4)


def twins(
    build: Callable[[], Program], steps: int = 5, at_least: int | None = None, *, exact: bool = True
) -> Witness:
    """Build the program twice with the same seeds, run one undebugged and one debugged, and compare them.

    They must be the same to the last bit if `exact`, else within rounding. At least `at_least` runs (default: one a
    step) must have been captured, with values, and every value be readable.
    """
    plain = course(seeded(build), steps)
    assert plain.error is None, plain.error
    program = seeded(build)
    with witnessed() as witness:
        debugged = course(program, steps)
    (assert_identical if exact else assert_close)(plain, debugged)
    assert_seen(witness, steps if at_least is None else at_least)
    return witness


def again(program: Program, steps: int) -> Witness:
    """As `twins`, for a program whose whole state is in its variables: the same one twice, put back in between.

    A first step, which is not compared, traces it. Some networks do not always give the same bits undebugged either
    (InceptionResNetV2: of 40 times two steps without tfdbg, four results, since ops that run at a time add up in
    whatever order; with one thread for ops, 29 times the same): what the debugged one gives must then be what one
    of a few undebugged ones gives.
    """
    program.step()
    before = [_array(variable) for variable in program.state()]

    def from_there() -> Course:
        for variable, value in zip(program.state(), before, strict=True):
            variable.assign(value)
        return course(program, steps)

    plain = from_there()
    assert plain.error is None, plain.error
    with witnessed() as witness:
        debugged = from_there()
    for _ in range(_OTHER_COURSES):
        if _bits(plain) == _bits(debugged):
            break
        plain = from_there()
    assert_identical(plain, debugged)
    assert_seen(witness, steps)
    return witness


def _bits(course: Course) -> list[bytes]:
    return [array.tobytes() for arrays in (*course.results, course.state) for array in arrays]


def failing(program: Program, debugged_program: Program | None = None, steps: int = 9) -> Witness:
    """As `again`, for a program that raises within `steps`: the message is the same to the last letter.

    A program that cannot be put back by its variables is given a second time, with the same functions.
    """
    before = [_array(variable) for variable in program.state()]
    plain = course(program, steps)
    assert plain.error is not None
    for variable, value in zip(program.state(), before, strict=True):
        variable.assign(value)
    with witnessed() as witness:
        debugged = course(debugged_program or program, steps)
    assert_identical(plain, debugged)
    assert witness.count > len(plain.results)
    return witness


def assert_seen(witness: Witness, at_least: int) -> None:
    assert witness.count >= at_least
    assert not witness.said, witness.said
    for run in witness.runs:
        assert not any("could not be taken" in note for note in run.notes), run.notes
        assert len(run.tensors) > 0, run.notes
    last = witness.runs[-1]
    for row in range(len(last.tensors)):
        last.tensors.value(row)
