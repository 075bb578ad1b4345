"""The search for cyclic garbage, put off: on again afterwards, exactly where it was on before."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

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
