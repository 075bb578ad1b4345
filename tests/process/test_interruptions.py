"""Exceptions of the program's signal handlers pass through what keeps errors of ours away from it."""

from __future__ import annotations

import re
import signal
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import pytest
from support.package_source import PACKAGE

from tfdbg_cli.process.interruptions import OUR_ERRORS_SUPPRESSED, in_signal_handler, our_errors


class OutOfTime(Exception):  # noqa: N818
    """What a handler raises."""


def _deep(text: str) -> None:
    raise OutOfTime(text)


def _handler(number: int, frame: FrameType | None) -> None:
    raise OutOfTime(number)


class _Handlers:
    def handle(self, number: int, frame: FrameType | None) -> None:
        _deep("from a method")

    def __call__(self, number: int, frame: FrameType | None) -> None:
        _deep("from an object")


def _with_a_closure(number: int, frame: FrameType | None) -> None:
    def raise_it() -> None:
        raise OutOfTime(frame)

    raise_it()


def _not_twice(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise OutOfTime(number)


HANDLERS: list[Callable[..., None]] = [
    _handler,
    _Handlers().handle,
    _Handlers(),
    lambda *arguments: _deep("from a lambda"),
    partial(lambda own, number, frame: _deep(own), "from a partial function"),
    _with_a_closure,
    _not_twice,
]


@contextmanager
def _handled(handler: Callable[..., None]) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def _ours(work: Callable[[], Any]) -> bool:
    """Whether an error of `work` counts as ours."""
    try:
        work()
    except our_errors():
        return True
    return False


def _suppressed(work: Callable[[], Any]) -> bool:
    with OUR_ERRORS_SUPPRESSED:
        work()
        return False
    return True


def _signalled() -> None:
    signal.raise_signal(signal.SIGUSR1)


@pytest.mark.parametrize("guarded", [_ours, _suppressed])
@pytest.mark.parametrize("handler", HANDLERS)
def test_what_a_signal_handler_raises_is_the_programs(handler: Callable[..., None], guarded: Any) -> None:
    for work in (_signalled, lambda: [_signalled() for _ in range(1)]):
        with _handled(handler), pytest.raises(OutOfTime):
            guarded(work)


@pytest.mark.parametrize("guarded", [_ours, _suppressed])
def test_so_it_is_where_the_traceback_has_not_the_frame_that_was_interrupted(guarded: Any) -> None:
    """A blind test: it was taken for ours amid an op that we ran: TensorFlow takes its frames out of tracebacks."""

    def without_its_frame() -> None:
        try:
            _signalled()
        except OutOfTime as error:
            trace = error.__traceback__
            assert trace is not None and trace.tb_next is not None
            raise error.with_traceback(trace.tb_next.tb_next) from None

    with _handled(_handler), pytest.raises(OutOfTime):
        guarded(without_its_frame)


@pytest.mark.parametrize("guarded", [_ours, _suppressed])
def test_any_other_error_is_ours(guarded: Callable[..., bool]) -> None:
    assert guarded(lambda: _deep("out of no handler"))
    assert guarded(lambda: _handler(1, None))
    with _handled(_handler):
        assert guarded(lambda: {}["a program that has a handler"])
    with pytest.raises(KeyboardInterrupt):
        guarded(lambda: (_ for _ in ()).throw(KeyboardInterrupt))


def _raising_another() -> None:
    try:
        _signalled()
    except OutOfTime as error:
        raise ValueError("such as of a value that cannot be converted") from error


def _raising_amid_it() -> None:
    try:
        _signalled()
    except OutOfTime:
        {}["what cleans up failed"]


def _raising_out_of_sight() -> None:
    try:
        _signalled()
    except OutOfTime:
        raise SystemError("a native function returned a result with an exception set") from None


@pytest.mark.parametrize("guarded", [_ours, _suppressed])
@pytest.mark.parametrize("work", [_raising_another, _raising_amid_it, _raising_out_of_sight])
def test_so_it_is_where_another_error_was_made_of_it(work: Callable[[], None], guarded: Any) -> None:
    """A blind test: what a handler raised in native code of TensorFlow came to us as an error of ours."""
    with _handled(_handler), pytest.raises(OutOfTime) as raised:
        guarded(work)
    assert raised.value.__context__ is None  # the program hears of nothing else


@pytest.mark.parametrize("guarded", [_ours, _suppressed])
def test_so_is_a_ctrl_c_of_which_another_error_was_made(guarded: Any) -> None:
    def work() -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    with pytest.raises(KeyboardInterrupt):
        guarded(work)


@pytest.mark.parametrize("guarded", [_ours, _suppressed])
def test_what_the_program_is_handling_already_does_not_come_again(guarded: Callable[..., bool]) -> None:
    def handling() -> bool:
        try:
            _signalled()
        except OutOfTime:
            return guarded(lambda: {}["of ours, while the program saves"])
        return False

    with _handled(_handler):
        assert handling()
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert guarded(_raising_in_a_handler_of_ours)


def _raising_in_a_handler_of_ours() -> None:
    try:
        {}["of ours"]
    except KeyError as error:
        raise ValueError("of ours, too") from error


def test_where_a_few_kinds_are_ours_no_other_is() -> None:
    def of_a_few() -> bool:
        try:
            work()
        except our_errors(OSError, LookupError):
            return True
        return False

    def timed_out(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    work: Callable[[], Any] = lambda: {}["a LookupError"]  # noqa: E731
    assert of_a_few()
    work = lambda: 1 / 0  # noqa: E731
    with pytest.raises(ZeroDivisionError):
        of_a_few()
    work = _signalled
    with _handled(timed_out), pytest.raises(TimeoutError):
        of_a_few()


# Where `except Exception` may stand: in threads of ours, where no signal handler runs, in programs of ours that run
# none of the user's, and where the exception is raised again, to the program or as its reason.
_ELSEWHERE = re.compile(r"^(formats|cli/replay|debug_server)\b")
_RAISED_AGAIN = {
    "api/asked_runs.py", "capture/intercept/unattended.py", "capture/pipeline.py",
    "capture/runs/eager/checks.py", "capture/runs/session/runtime_graph.py",
}  # fmt: skip


def test_no_guard_keeps_an_interruption_from_the_program() -> None:
    """A blind test: of 60 exceptions of a SIGALRM handler a watch kept up to 29 to itself."""
    found = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if re.search(r"except (\([^)]*\b)?Exception\b|suppress\(Exception\)", file.read_text(encoding="utf-8"))
    }
    assert {name for name in found if not _ELSEWHERE.match(name)} == _RAISED_AGAIN


def test_it_is_known_whether_a_signal_handler_runs() -> None:
    found: list[bool] = []

    def deep() -> None:
        found.append(in_signal_handler())

    handlers: list[Callable[..., None]] = [
        lambda number, frame: deep(),
        lambda *arguments: deep(),
        partial(lambda own, number, frame: own(), deep),
    ]
    for handler in handlers:
        with _handled(handler):
            signal.raise_signal(signal.SIGUSR1)
    assert found == [True] * len(handlers)


def test_it_is_none_where_a_frame_is_given_as_by_a_debugger() -> None:
    def dispatch(frame: FrameType, event: str) -> bool:
        return in_signal_handler()

    assert not dispatch(sys._getframe(), "call")
    assert not in_signal_handler()


def test_whoever_asks_keeps_nothing_of_the_program_alive() -> None:
    """A blind test: a call keeps what its names held when it was asked for them, up to its end."""
    value = _Handlers()
    gone = weakref.ref(value)
    in_signal_handler()
    del value
    assert gone() is None
