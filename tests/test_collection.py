"""The search for cyclic garbage, put off: on again afterwards, exactly where it was on before."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest

from tfdbg_cli import collection
from tfdbg_cli.collection import COLLECTOR, Collector, FrozenObjects, count_as_old

PROGRAMS = (701, 11, 12)


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(collection, "_FROZEN", FrozenObjects())
    on, thresholds = gc.isenabled(), gc.get_threshold()
    gc.set_threshold(*PROGRAMS)
    yield
    (gc.enable if on else gc.disable)()
    gc.set_threshold(*thresholds)


def _collects() -> bool:
    """Whether new objects lead to a collection, were the collector switched on."""
    first, *_ = gc.get_threshold()
    return 0 < first < 1_000_000


@pytest.mark.parametrize("on", [True, False])
def test_it_is_afterwards_as_it_was_and_the_switch_is_the_programs(on: bool) -> None:
    (gc.enable if on else gc.disable)()
    collector = Collector()
    with collector.put_off():
        assert not _collects()
        with collector.put_off():
            assert not _collects()
        assert not _collects() and gc.isenabled() is on
    assert gc.get_threshold() == PROGRAMS and gc.isenabled() is on


@pytest.mark.parametrize("on", [True, False])
def test_what_the_program_sets_meanwhile_holds(on: bool) -> None:
    """A blind test: a program that disabled the collector while tfdbg looked for objects had it on from then on."""
    (gc.disable if on else gc.enable)()
    collector = Collector()
    with collector.put_off():
        (gc.enable if on else gc.disable)()
    assert gc.isenabled() is on and gc.get_threshold() == PROGRAMS
    with collector.put_off(), collector.seldom():
        gc.set_threshold(1_234, 5, 6)
        with collector.put_off():
            assert not _collects()
    assert gc.get_threshold() == (1_234, 5, 6)


def test_it_is_on_again_after_an_error() -> None:
    with pytest.raises(KeyError), Collector().put_off():
        raise KeyError
    assert gc.get_threshold() == PROGRAMS


class _Late(Exception):  # noqa: N818
    """What a signal handler raises."""


def _raises() -> None:
    raise _Late


@pytest.mark.parametrize("name", ["get_threshold", "set_threshold"])
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("raises", [True, False])
def test_a_signal_handler_may_enter_it_or_raise_while_it_is_entered_or_left(
    monkeypatch: pytest.MonkeyPatch, name: str, at: int, raises: bool
) -> None:
    """A blind test: with a plain lock the thread waits for itself, with another order the collector stays off."""
    collector, original, calls = Collector(), getattr(gc, name), []

    def handle(number: int, frame: FrameType | None) -> None:
        if raises:
            _raises()
        with collector.put_off():
            pass

    def interrupted(*given: Any) -> Any:
        found = original(*given)
        calls.append(name)
        if len(calls) == at:
            signal.raise_signal(signal.SIGUSR1)
        return found

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        with monkeypatch.context() as patched, suppress(_Late):
            patched.setattr(gc, name, interrupted)
            with collector.put_off():
                pass
        assert gc.get_threshold() == PROGRAMS
        with collector.put_off():
            assert not _collects()
        assert gc.get_threshold() == PROGRAMS
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("screen", [True, False])
def test_the_last_thread_to_leave_switches_it_on(screen: bool) -> None:
    collector, entered, go = Collector(), threading.Event(), threading.Event()

    def other() -> None:
        with collector.put_off():
            entered.set()
            go.wait()

    thread = threading.Thread(target=other)
    with collector.seldom() if screen else collector.put_off():
        thread.start()
        entered.wait()
        assert not _collects()
    assert not _collects()
    go.set()
    thread.join()
    assert gc.get_threshold() == PROGRAMS


@pytest.mark.parametrize("frozen", [0, 7])
def test_what_a_program_has_frozen_stays_so(frozen: int, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(gc, "get_count", lambda: (20_000, 0, 0))
    monkeypatch.setattr(gc, "get_freeze_count", lambda: frozen)
    for name in ("freeze", "unfreeze"):
        monkeypatch.setattr(gc, name, lambda name=name: done.append(name))
    count_as_old()
    assert done == ([] if frozen else ["freeze", "unfreeze"])


def test_frozen_objects_are_not_counted_for_the_sake_of_a_few_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append("frozen") or 7)
    with COLLECTOR.put_off():
        gc.collect()
        few = [[number] for number in range(1_000)]
        count_as_old()
        assert not counted
        many = [[number] for number in range(20_000)]
        count_as_old()
        count_as_old()
    assert counted == ["frozen"], "a program that has frozen objects is asked no more: counting them takes a while"
    assert len(few) < len(many)


def test_what_refers_to_itself_is_freed_once_there_is_much_of_it() -> None:
    with COLLECTOR.seldom():
        gc.collect()
        for _ in range(250_000):
            mine: list[object] = []
            mine.append(mine)
        assert gc.collect() < 101_000


def test_a_program_that_does_without_the_collector_is_obeyed() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with COLLECTOR.seldom():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize("generations", [(700, 10, 10), (50_000, 5, 1000)])
def test_afterwards_the_collector_is_as_it_was(generations: tuple[int, int, int]) -> None:
    before = gc.get_threshold()
    gc.set_threshold(*generations)
    try:
        with COLLECTOR.seldom():
            assert gc.get_threshold()[2] > 1_000_000
        assert gc.get_threshold() == generations
    finally:
        gc.set_threshold(*before)
