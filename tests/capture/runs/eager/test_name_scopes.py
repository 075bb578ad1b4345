"""The scope of each op is the one that it ran in, though TensorFlow is not asked each time."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.program import name_scopes
from tfdbg_cli.capture.runs.eager.program.name_scopes import ScopeChanges
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


@pytest.fixture
def scopes(monkeypatch: pytest.MonkeyPatch) -> ScopeChanges:
    """Of a process in which nothing was watched yet."""
    made = ScopeChanges()
    # The tests before may have had watches come and go so often that the class stayed changed.
    monkeypatch.setattr(compat.SCOPED, compat.SCOPE, name_scopes.SCOPE_CHANGES._original or _property())
    monkeypatch.setattr(name_scopes, "SCOPE_CHANGES", made)
    monkeypatch.setattr("tfdbg_cli.capture.runs.eager.ops.SCOPE_CHANGES", made)
    monkeypatch.setattr("tfdbg_cli.capture.runs.eager.deferred_ops.SCOPE_CHANGES", made)
    return made


def _property() -> property:
    found: property = vars(compat.SCOPED)[compat.SCOPE]
    return found


def test_the_class_is_tensorflows_again_when_nobody_watches(
    scopes: ScopeChanges, watch: EagerWatch, names: list[str]
) -> None:
    assert _property().fset.__module__ == "tfdbg_cli.capture.runs.eager.program.name_scopes"
    assert _property().__doc__ == _property().fget.__doc__
    for _ in range(2):
        watch.attend(False)
        assert _property().fset.__module__ == "tensorflow.python.eager.context"
        with tf.name_scope("unheard"):
            watch.attend(True)
            assert _last(names) == "unheard/"


def test_what_the_program_has_put_over_it_stays(scopes: ScopeChanges, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _property()
    monkeypatch.setattr(compat.SCOPED, compat.SCOPE, before)  # is put back in the end
    scopes.heed()
    theirs = property(before.fget, before.fset)
    setattr(compat.SCOPED, compat.SCOPE, theirs)
    scopes.let_go()
    assert _property() is theirs


def test_watches_that_come_and_go_very_often_leave_it(scopes: ScopeChanges, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compat.SCOPED, compat.SCOPE, _property())
    for _ in range(2_000):
        scopes.heed()
        scopes.let_go()
    known = _property()
    assert known.fset.__module__ == "tfdbg_cli.capture.runs.eager.program.name_scopes"
    scopes.heed()
    assert _property() is known
    before = scopes.latest
    with tf.name_scope("still"):
        assert scopes.latest > before


def test_tensorflow_is_asked_once_for_many_ops(watch: EagerWatch, names: list[str], monkeypatch) -> None:
    asked: list[int] = []

    class Data:
        @property
        def scope_name(self) -> str:
            asked.append(1)
            return "kept/"

    monkeypatch.setattr("tfdbg_cli.capture.runs.eager.program.name_scopes.thread_data", lambda _: Data())
    list(map(lambda _: _run(), range(20)))  # no loop of the program's, so one run
    assert names[-10:] == ["kept/"] * 10
    assert len(asked) < 5, "each log asks for itself"
