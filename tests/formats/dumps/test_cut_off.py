"""A run whose process was killed while it was dumped says so, and a run that ended says nothing of the kind."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest
from support.dump_maker import dump_core_metadata, dump_graph, dump_message, dump_tensor, small_dump
from support.launched import python
from support.prompt import Prompt
from support.sample_run import sample_run

from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.formats.opening import open_path

WATCHED = [
    ("x", "Placeholder", []),
    ("__copy_x_0", "Copy", ["x"]),
    ("__dbg_x:0_0_DebugIdentity", "DebugIdentity", ["__copy_x_0"]),
    ("total", "Sum", ["__copy_x_0"]),
    ("__copy_total_0", "Copy", ["total"]),
    ("__dbg_total:0_0_DebugIdentity", "DebugIdentity", ["__copy_total_0"]),
]


def _told(run: Path) -> str:
    return " ".join(note for note in read_dump(run).notes if "cut off" in note)


def test_killed_before_the_graph_was_written(tmp_path: Path) -> None:
    dump_core_metadata(tmp_path)
    assert "was cut off before it dumped a tensor" in _told(tmp_path)
    assert not any("nothing was watched" in note for note in read_dump(tmp_path).notes)


def test_killed_before_the_first_tensor(tmp_path: Path) -> None:
    dump_graph(tmp_path, WATCHED)
    assert "was cut off before it dumped a tensor" in _told(tmp_path)


def test_killed_before_the_last_tensor(tmp_path: Path) -> None:
    dump_graph(tmp_path, WATCHED)
    dump_core_metadata(tmp_path, output_names=["total:0"], input_names=["x:0"])
    dump_tensor(tmp_path, "x", 10, 1.0)
    assert "total:0, which it fetches, is missing" in _told(tmp_path)
    dump_tensor(tmp_path, "total", 20, 1.0)
    assert not _told(tmp_path)


def test_a_later_run_of_one_address_is_killed_before_the_last_tensor(tmp_path: Path) -> None:
    """TensorFlow writes the graph into the folder of the first run alone."""
    dump_core_metadata(tmp_path, output_names=["total:0"], input_names=["x:0"])
    dump_tensor(tmp_path, "x", 10, 1.0)
    assert "total:0, which it fetches, is missing" in _told(tmp_path)
    dump_tensor(tmp_path, "total", 20, 1.0)
    assert not _told(tmp_path)


def test_killed_while_the_program_was_added(tmp_path: Path) -> None:
    small_dump(tmp_path)
    assert not _told(tmp_path)
    (tmp_path / "_tfdbg_cli.partial-123").mkdir()
    assert "was cut off while it was saved" in _told(tmp_path)


def test_a_run_in_which_nothing_was_watched_was_not_cut_off(tmp_path: Path) -> None:
    dump_graph(tmp_path / "one", [("x", "Const", [])])
    dump_message(tmp_path / "one", "_tfdbg_fetches_info_0", "['x:0']")
    run = read_dump(tmp_path / "one")
    assert not run.cut_off
    assert any("nothing was watched" in note for note in run.notes)
    write_dump(sample_run(), tmp_path / "two")
    assert not read_dump(tmp_path / "two").cut_off


def test_the_list_of_runs_says_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_dump(sample_run(), root / "run_1700000000000000_0")
    dump_graph(root / "run_1700000000000001_1", WATCHED)
    prompt = Prompt(open_path(root))
    assert [run["cut_off"] for run in prompt.data("runs")["runs"]] == [False, True]
    assert "cut off" in prompt.show("runs")
    prompt.run("runs 2")
    assert "was cut off before it dumped a tensor" in " ".join(prompt.show("lt").split())
    assert "was cut off before it dumped a tensor" in " ".join(prompt.show("run_info").split())


_PROGRAM = """
import os, signal
import tensorflow.compat.v1 as tf
import tfdbg_cli as tf_debug

tf.disable_eager_execution()
def die(x):
    os.kill(os.getpid(), signal.SIGKILL)
y = tf.py_func(die, [tf.constant(1.0) + tf.placeholder_with_default(1.0, [])], tf.float32)
tf_debug.DumpingDebugWrapperSession(tf.Session(), "dumps").run(y)
"""


@pytest.mark.tf
def test_a_process_that_is_killed_in_the_middle_of_a_run(tmp_path: Path) -> None:
    ended = python("-c", _PROGRAM, folder=tmp_path)
    assert ended.returncode == -signal.SIGKILL
    (run,) = open_path(tmp_path / "dumps").runs
    assert run.cut_off, (run.notes, len(run.tensors))
    shutil.rmtree(tmp_path / "dumps")
