"""The search for cyclic garbage, put off: on again afterwards, exactly where it was on before."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from tfdbg_cli.capture.tf.collection import PutOff, count_as_old


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    on = gc.isenabled()
    yield
    (gc.enable if on else gc.disable)()


@pytest.mark.parametrize("on", [True, False])
def test_it_is_afterwards_as_it_was(on: bool) -> None:
    (gc.enable if on else gc.disable)()
    put_off = PutOff()
    with put_off:
        assert not gc.isenabled()
        with put_off:
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is on


def test_it_is_on_again_after_an_error() -> None:
    gc.enable()
    with pytest.raises(KeyError), PutOff():
        raise KeyError
    assert gc.isenabled()


def test_the_last_thread_to_leave_switches_it_on() -> None:
    gc.enable()
    put_off, entered, go = PutOff(), threading.Event(), threading.Event()

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
    monkeypatch.setattr(gc, "get_freeze_count", lambda: frozen)
    for name in ("freeze", "unfreeze"):
        monkeypatch.setattr(gc, name, lambda name=name: done.append(name))
    count_as_old()
    assert done == ([] if frozen else ["freeze", "unfreeze"])
