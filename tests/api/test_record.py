"""`record`: the next run is saved without a stop, whatever was going on before."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.cli.replay import replayed
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.layout import is_bundle
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.decision import Continue, DebugRun, Detach, RecordRun, RunUntil

pytestmark = pytest.mark.tf


@pytest.fixture
def step() -> Any:
    import tensorflow as tf

    total = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        return tf.math.log(x) + total.assign_add(1.0)

    return step


def test_from_a_program_that_nobody_debugs(front: ScriptedFrontend, step: Any, tmp_path: Path) -> None:
    step(np.float32(1))
    tf_debug.record(str(tmp_path / "one"))
    assert step(np.float32(0)).numpy() == -np.inf
    assert step(np.float32(1)).numpy() == 4
    assert front.stops == []
    assert front.said[0].startswith(f"The bundle is in {tmp_path / 'one'} (")
    made = replayed(str(tmp_path / "one"))
    assert made.same, made.said
    assert "Log:0 (Log) is the origin, as it was, bit for bit." in made.said


def test_from_the_prompt_the_program_then_runs_on(front: ScriptedFrontend, step: Any, tmp_path: Path) -> None:
    front.script = [RecordRun(str(tmp_path / "two"))]
    tf_debug.enable()
    for value in (1, 2, 3):
        step(np.float32(value))
    assert front.path == ["start 1"]
    assert is_bundle(tmp_path / "two")
    assert open_path(tmp_path / "two").runs[0].call.number == 1


def test_a_watch_goes_on_behind_it(front: ScriptedFrontend, step: Any, tmp_path: Path) -> None:
    front.script = [RunUntil("has_inf_or_nan"), Continue()]
    tf_debug.enable()
    step(np.float32(1))
    tf_debug.record(str(tmp_path / "three"))
    step(np.float32(2))
    assert is_bundle(tmp_path / "three")
    step(np.float32(3))
    step(np.float32(0))
    assert front.path == ["start 1", "end 4"]


def test_what_is_there_already_is_told_at_once(front: ScriptedFrontend, step: Any, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(TfdbgError, match=r"There is something at .*full already"):
        tf_debug.record(tmp_path / "full")
    step(np.float32(1))  # and nothing is debugged from then on
    tf_debug.record(tmp_path / "bundle")
    step(np.float32(1))
    with pytest.raises(TfdbgError, match=r"There is a bundle at .*bundle already"):
        tf_debug.record(tmp_path / "bundle")
    tf_debug.record(tmp_path / "bundle", force=True)
    step(np.float32(2))
    assert [said.split(" (")[0] for said in front.said] == [f"The bundle is in {tmp_path / 'bundle'}"] * 2


def test_a_run_that_fails_is_recorded_and_its_error_shown(front: ScriptedFrontend, tmp_path: Path) -> None:
    import tensorflow as tf

    total = tf.Variable(1.0, name="total")

    @tf.function
    def inner(x: Any) -> Any:
        return tf.debugging.check_numerics(x, "bad")

    @tf.function
    def checked(x: Any) -> Any:
        total.assign_add(2.0)
        for _ in tf.range(2):
            x *= 3.0
        logs = tf.math.log(x)
        y = inner(logs) + total
        total.assign_add(4.0)
        return y + tf.square(total)

    tf_debug.record(str(tmp_path / "four"))
    with pytest.raises(tf.errors.InvalidArgumentError):
        checked(np.float32(0))
    (said, *_) = front.said
    assert str(tmp_path / "four") in said
    run = open_path(tmp_path / "four").runs[0]
    assert run.error is not None
    assert front.path == ["end 1"]
    made = replayed(str(tmp_path / "four"))
    assert made.same
    assert made.said.endswith("it fails as it did: InvalidArgumentError in inner/CheckNumerics.")
    again = made.stop.runs[0]
    values = {str(again.tensors[row].name): again.tensors.value(row) for row in range(len(again.tensors))}
    assert values["Log:0"] == -np.inf
    assert values["Square:0"] == 49
    assert {"while:2", "while/body/mul:0"} <= values.keys()
    assert "add:0" not in values
    assert again.error is not None
    assert "test_record.py" in again.error.message


def test_a_place_that_is_taken_meanwhile_is_said_and_the_program_goes_on(
    front: ScriptedFrontend, step: Any, tmp_path: Path
) -> None:
    tf_debug.record(str(tmp_path / "five"))
    (tmp_path / "five").write_text("mine")
    assert step(np.float32(1)).numpy() == 2
    assert "was not recorded: There is something at" in front.said[0]
    assert (tmp_path / "five").read_text() == "mine"
    front.script = [DebugRun(), Detach()]
    tf_debug.stop()
    step(np.float32(1))
    assert front.path == ["start 2", "end 2"]


def test_a_block_records_all_of_its_runs_and_none_behind_it(
    front: ScriptedFrontend, step: Any, tmp_path: Path
) -> None:
    with tf_debug.record(tmp_path / "r"):
        for number in range(3):
            step(np.float32(number))
    step(np.float32(9))
    runs = tf_debug.open_recording(tmp_path / "r").runs
    assert [run.call.number for run in runs] == [1, 2, 3]
    assert not front.path, "nothing stops"


@pytest.mark.parametrize("options", [{}, {"every": 1}])
def test_a_block_within_a_block_is_refused_and_the_outer_one_records_on(
    front: ScriptedFrontend, step: Any, tmp_path: Path, options: dict[str, int]
) -> None:
    with tf_debug.record(tmp_path / "a", **options):
        step(np.float32(1))
        with (
            pytest.raises(TfdbgError, match=r"its runs go to .*a\."),
            tf_debug.record(tmp_path / "b", **options),
        ):
            pytest.fail("the block ran")
        step(np.float32(2))
    assert len(tf_debug.open_recording(tmp_path / "a").runs) == 2 and not (tmp_path / "b").exists()
    with tf_debug.record(tmp_path / "c", **options):
        step(np.float32(3))
        tf_debug.stop_recording()
        with tf_debug.record(tmp_path / "d", **options):
            step(np.float32(4))
    assert [len(tf_debug.open_recording(tmp_path / name).runs) for name in "cd"] == [1, 1]


def test_a_block_whose_place_is_taken_by_a_bundle_does_not_begin(
    front: ScriptedFrontend, step: Any, tmp_path: Path
) -> None:
    tf_debug.record(tmp_path / "case")
    step(np.float32(1))
    with pytest.raises(TfdbgError, match="case"), tf_debug.record(tmp_path / "case", force=True):
        pytest.fail("the block ran")
    step(np.float32(2))
    assert len(open_path(tmp_path / "case").runs) == 1


def test_tensors_that_share_memory_lie_in_the_same_bytes(front: ScriptedFrontend, tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        made = tf.random.stateless_normal([300, 200], [1, 2]) * x
        return tf.reshape(made, [-1]), tf.identity(made), made + 1.0

    tf_debug.record(tmp_path / "r", every=1)
    step(tf.constant(2.0))
    tf_debug.stop_recording()
    (run,) = [run for run in open_path(tmp_path / "r").runs if run.tensors.named("Reshape")]
    made, row = (run.tensors.value(run.tensors.named(node)[0]) for node in ("mul", "Reshape"))
    assert isinstance(made, np.ndarray) and isinstance(row, np.ndarray)
    assert made.tobytes() == row.tobytes() and row.shape == (60_000,)
    index = sqlite3.connect(tmp_path / "r" / "index.sqlite")
    asked = "SELECT count(*), count(DISTINCT offset) FROM tensors WHERE run = ? AND stored = 240000"
    count, places = index.execute(asked, (run.call.number,)).fetchone()
    assert count >= 4 and places < count


def test_the_end_of_a_block_leaves_alone_what_began_behind_the_end_of_its_recording(
    front: ScriptedFrontend, step: Any, tmp_path: Path
) -> None:
    """A blind test: the end of the block ended the second recording, too, and took back that of the next run."""
    with tf_debug.record(tmp_path / "a"):
        step(np.float32(1))
        tf_debug.stop_recording()
        tf_debug.record(tmp_path / "b", every=1)
        step(np.float32(2))
    step(np.float32(3))
    tf_debug.stop_recording()
    assert [len(open_path(tmp_path / name).runs) for name in "ab"] == [1, 2]
    with tf_debug.record(tmp_path / "c"):
        tf_debug.stop_recording()
        with tf_debug.record(tmp_path / "d"):
            step(np.float32(4))
        tf_debug.record(tmp_path / "next")
    step(np.float32(5))
    assert is_bundle(tmp_path / "next")
    assert len(open_path(tmp_path / "d").runs) == 1
