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
from tfdbg_cli.collection import CollectionPutOff, FrozenObjects, count_as_old, seldom_collected


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(collection, "_FROZEN", FrozenObjects())
    on = gc.isenabled()
    yield
    (gc.enable if on else gc.disable)()


@pytest.mark.parametrize("on", [True, False])
def test_it_is_afterwards_as_it_was(on: bool) -> None:
    (gc.enable if on else gc.disable)()
    put_off = CollectionPutOff()
    with put_off:
        assert not gc.isenabled()
        with put_off:
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is on


def test_it_is_on_again_after_an_error() -> None:
    gc.enable()
    with pytest.raises(KeyError), CollectionPutOff():
        raise KeyError
    assert gc.isenabled()


class _Late(Exception):  # noqa: N818
    """What a signal handler raises."""


def _raises() -> None:
    raise _Late


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("name", ["isenabled", "disable", "enable"])
@pytest.mark.parametrize("raises", [True, False])
def test_a_signal_handler_may_enter_it_or_raise_while_it_is_entered_or_left(
    monkeypatch: pytest.MonkeyPatch, on: bool, name: str, raises: bool
) -> None:
    """A blind test: with a plain lock the thread waits for itself, with another order the collector stays off."""
    (gc.enable if on else gc.disable)()
    put_off, original, calls = CollectionPutOff(), getattr(gc, name), []

    def handle(number: int, frame: FrameType | None) -> None:
        if raises:
            _raises()
        with put_off:
            pass

    def interrupted() -> Any:
        found = original()
        calls.append(name)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGUSR1)
        return found

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        with monkeypatch.context() as patched, suppress(_Late):
            patched.setattr(gc, name, interrupted)
            with put_off:
                pass
        assert gc.isenabled() is on
        with put_off:
            assert not gc.isenabled()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_the_last_thread_to_leave_switches_it_on() -> None:
    gc.enable()
    put_off, entered, go = CollectionPutOff(), threading.Event(), threading.Event()

    def other() -> None:
        with put_off:
            entered.set()
            go.wait()

    thread = threading.Thread(target=other)
    with put_off:
        thread.start()
        entered.wait()
    assert not gc.isenabled()
    go.set()
    thread.join()
    assert gc.isenabled()


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
    with CollectionPutOff():
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
    with seldom_collected():
        gc.collect()
        for _ in range(250_000):
            mine: list[object] = []
            mine.append(mine)
        assert gc.collect() < 101_000


def test_a_program_that_does_without_the_collector_is_obeyed() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with seldom_collected():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize("generations", [(700, 10, 10), (50_000, 5, 1000)])
def test_afterwards_the_collector_is_as_it_was(generations: tuple[int, int, int]) -> None:
    before = gc.get_threshold()
    gc.set_threshold(*generations)
    try:
        with seldom_collected():
            assert gc.get_threshold()[2] > 1_000_000
        assert gc.get_threshold() == generations
    finally:
        gc.set_threshold(*before)
