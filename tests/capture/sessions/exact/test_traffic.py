"""Runs of a session that overlap know of one another, one of each kind."""

from __future__ import annotations

import gc
import signal
import sys
import weakref
from contextlib import ExitStack
from types import FrameType
from typing import Any

import pytest

pytestmark = pytest.mark.tf

from tfdbg_cli.capture.sessions.exact import traffic as traffic_module  # noqa: E402
from tfdbg_cli.capture.sessions.exact.traffic import Traffic  # noqa: E402


def _kind(call: Any) -> str:
    if call == "wrong":
        raise ValueError("no call is made so")
    return str(call)[0]


def test_a_run_is_alone_as_long_as_no_other_is_under_way() -> None:
    traffic = Traffic()
    assert not traffic.alone and traffic.own is None
    with traffic.run("a1", _kind) as first:
        assert traffic.alone and traffic.own is first
        with traffic.run("b1", _kind) as second:
            assert not traffic.alone and traffic.own is second
        assert traffic.alone and traffic.own is first


def test_what_was_under_way_meanwhile_is_known_one_of_each_kind() -> None:
    traffic, asked = Traffic(), list[Any]()

    def any_that_is_asked(call: Any) -> bool:
        asked.append(call)
        return True

    with traffic.run("early", _kind), traffic.run("a1", _kind) as run:
        for name in ("b1", "b2", "c1"):
            with traffic.run(name, _kind) as short:
                pass
        assert short.met_none_but(lambda call: call in {"early", "a1"})
        assert run.met_none_but(any_that_is_asked)
        assert asked == ["early", "b1", "c1"]
        assert not run.met_none_but(lambda call: call != "c1")
    with traffic.run("late", _kind) as last:
        assert last.met_none_but(lambda call: False), "the others are over"


def test_runs_that_always_overlap_hold_none_that_are_long_over() -> None:
    traffic, begun, last = Traffic(), list[weakref.ref[Any]](), ExitStack()
    for _ in range(20):
        call = Call()
        begun.append(weakref.ref(call))
        following = ExitStack()
        following.enter_context(traffic.run(call, lambda call: "step"))
        last.close()
        last = following
    del call
    gc.collect()
    assert sum(one() is not None for one in begun) <= 2, "the one under way, and the one that it met"
    last.close()


class Call:
    """Stands for a call of a session, with what it is fed."""


def test_of_a_call_that_is_wrong_nothing_is_known() -> None:
    traffic = Traffic()
    with traffic.run("a1", _kind) as run:
        with traffic.run("wrong", _kind):
            pass
        assert not run.met_none_but(lambda call: True)


def test_a_signal_handler_may_make_a_run_while_others_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: with a plain lock, or while the runs are gone through one by one, it makes none."""
    traffic = Traffic()

    def handle(number: int, frame: FrameType | None) -> None:
        with traffic.run("c1", _kind):
            pass

    def traced(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename == traffic_module.__file__:
            signal.raise_signal(signal.SIGUSR1)
            return traced
        return None

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        with traffic.run("a1", _kind) as own:
            sys.settrace(traced)
            try:
                innermost, alone = traffic.own, traffic.alone
                with traffic.run("b1", _kind):
                    pass
            finally:
                sys.settrace(None)
            assert innermost is own
            assert alone
            assert traffic.alone
    finally:
        signal.signal(signal.SIGUSR1, before)
