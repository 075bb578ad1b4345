"""A disk that is nearly full: TensorFlow would end the process, so no dump is begun."""

from __future__ import annotations

import shutil
import tempfile
from collections import namedtuple

import numpy as np
import pytest
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.capture import budget
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import CaptureRequest, Continue, DebugRun, GraphChoice
from tfdbg_cli.model.runs import RunEnd, RunStart

pytestmark = pytest.mark.tf

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def free(monkeypatch):
    """Sets the bytes that every disk seems to have free."""

    def use(nbytes: int) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(nbytes, 0, nbytes))

    return use


@pytest.fixture
def log(monkeypatch, tmp_path):
    """A session of one op, and the fed value."""
    import tensorflow.compat.v1 as tf

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        yield session, tf.log(x, name="y"), {x: np.ones(3, np.float32)}


def test_room_is_asked_for_only_where_it_is_short(free, tmp_path):
    asked = []

    def size() -> int:
        asked.append(1)
        return 20 << 20

    free(2 << 30)
    budget.require_room_for_graphs(tmp_path, size)
    assert not asked
    free(60 << 20)
    budget.require_room_for_graphs(tmp_path, size)
    assert asked
    free(50 << 20)
    with pytest.raises(TfdbgError, match=r"Only 50 MB are free"):
        budget.require_room_for_graphs(tmp_path / "not" / "made yet", size)


def test_a_run_on_a_full_disk_is_made_without_a_dump(free, log, monkeypatch, capsys, tmp_path):
    session, y, feeds = log
    runtime = DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME), force=True)
    front = ScriptedFrontend(runtime, DebugRun(CaptureRequest(graph=GraphChoice.PYTHON), force=True), Continue())
    monkeypatch.setattr("tfdbg_cli.api.session_debuggers.choose_frontend", lambda ui, **arguments: front)
    free(1 << 20)
    debugged = tf_debug.LocalCLIDebugWrapperSession(session, dump_root=str(tmp_path / "root"))
    assert debugged.run(y, feeds).tolist() == [0.0, 0.0, 0.0]
    assert "Only 1 MB are free" in capsys.readouterr().err
    assert debugged.run(y, feeds).tolist() == [0.0, 0.0, 0.0]
    # The prompt came back before the next run, and memory still has room.
    assert [type(stop) for stop in front.stops] == [RunStart, RunStart, RunEnd]
    assert front.ends[0].run.tensors.named("y", 0)


def test_dumping_on_a_full_disk_says_so_once(free, log, capsys, tmp_path):
    session, y, feeds = log
    free(1 << 20)
    debugged = tf_debug.DumpingDebugWrapperSession(session, str(tmp_path / "root"))
    for _ in range(3):
        assert debugged.run(y, feeds).tolist() == [0.0, 0.0, 0.0]
    assert capsys.readouterr().err.count("only 1 MB are free") == 1


def test_the_budget_on_show_is_that_of_the_dump_root(log, monkeypatch, tmp_path):
    session, y, feeds = log
    root = tmp_path / "root"
    monkeypatch.setattr(
        shutil, "disk_usage", lambda place: Usage(0, 0, 8 << 30 if str(place).startswith(str(root)) else 2 << 30)
    )
    root.mkdir()
    front = ScriptedFrontend()
    monkeypatch.setattr("tfdbg_cli.api.session_debuggers.choose_frontend", lambda ui, **arguments: front)
    tf_debug.LocalCLIDebugWrapperSession(session, dump_root=str(root)).run(y, feeds)
    assert front.stops[0].estimate.budget == 4 << 30
