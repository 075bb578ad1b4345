"""The scope of each op is the one that it ran in, though TensorFlow is not asked each time."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.runs.eager.recent import RecentOps
from tfdbg_cli.capture.runs.eager.watch import EagerWatch, watch_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scopes of the ops that are watched."""
    found: list[str] = []
    add = RecentOps.add

    def noted(self: RecentOps, *given: object) -> object:
        op = add(self, *given)  # type: ignore[arg-type]
        found.append(op.scope)
        return op

    monkeypatch.setattr(RecentOps, "add", noted)
    return found


@pytest.fixture
def watch() -> Iterator[EagerWatch]:
    decision = RunUntil("has_inf_or_nan")
    debugger = Debugger(lambda: ScriptedFrontend(decision))
    debugger.attendant = watch = watch_of(debugger)
    debugger.set_watch(decision)
    yield watch
    debugger.attendant = None
    watch.attend(False)


def _run() -> None:
    tf.identity(tf.ones(2))


def _last(names: list[str]) -> str:
    _run()
    return names[-1]


def test_scopes_come_and_go(watch: EagerWatch, names: list[str]) -> None:
    assert _last(names) == ""
    with tf.name_scope("outer"):
        assert _last(names) == "outer/"
        with tf.name_scope("inner"):
            assert _last(names) == "outer/inner/"
        assert _last(names) == "outer/"
        with tf.init_scope():
            assert _last(names) == "outer/"
    assert _last(names) == ""


def test_scopes_that_were_there_before_or_came_unseen(watch: EagerWatch, names: list[str]) -> None:
    assert _last(names) == ""
    watch.attend(False)
    with tf.name_scope("unseen"):
        watch.attend(True)
        assert _last(names) == "unseen/"
    assert _last(names) == ""


def test_each_thread_is_in_a_scope_of_its_own(watch: EagerWatch, names: list[str]) -> None:
    found: list[str] = []
    entered, asked = threading.Event(), threading.Event()

    def elsewhere() -> None:
        with tf.name_scope("elsewhere"):
            found.append(_last(names))
            entered.set()
            asked.wait(60)
            found.append(_last(names))

    with tf.name_scope("here"):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        assert entered.wait(60)
        assert _last(names) == "here/"
        asked.set()
        thread.join()
        assert _last(names) == "here/"
    assert found == ["elsewhere/", "elsewhere/"]


def test_the_class_is_changed_once_however_often_watches_come_and_go(watch: EagerWatch, names: list[str]) -> None:
    known = vars(compat.SCOPED)[compat.SCOPE]
    assert known.fset.__module__ == "tfdbg_cli.capture.runs.eager.name_scopes"
    assert known.__doc__ == known.fget.__doc__
    for _ in range(2):
        watch.attend(False)
        watch.attend(True)
    assert vars(compat.SCOPED)[compat.SCOPE] is known
    with tf.name_scope("still"):
        assert _last(names) == "still/"


def test_tensorflow_is_asked_once_for_many_ops(watch: EagerWatch, names: list[str], monkeypatch) -> None:
    asked: list[int] = []

    class Data:
        @property
        def scope_name(self) -> str:
            asked.append(1)
            return "kept/"

    monkeypatch.setattr("tfdbg_cli.capture.runs.eager.name_scopes.thread_data", lambda _: Data())
    list(map(lambda _: _run(), range(20)))  # no loop of the program's, so one run
    assert names[-10:] == ["kept/"] * 10
    assert len(asked) < 5, "each log asks for itself"
