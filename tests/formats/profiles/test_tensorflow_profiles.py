"""Profiles that TensorFlow recorded, against its own reading of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.profiles.profile_files import ProfileFile
from tfdbg_cli.formats.profiles.profile_run import read_profile
from tfdbg_cli.model.profile import NodeTime

pytestmark = pytest.mark.tf


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


def _named(path: Path) -> list[tuple[str, float]]:
    """The events of a profile, by TensorFlow's own declaration of it: name and time in microseconds."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    space = xplane_pb2.XSpace.FromString(path.read_bytes())
    return [
        (plane.event_metadata[event.metadata_id].name, event.duration_ps / 1e6)
        for plane in space.planes
        for line in plane.lines
        for event in line.events
    ]


def _times(path: Path) -> tuple[NodeTime, ...]:
    (run,) = open_path(path).runs
    assert run.profile is not None
    return run.profile.times


def _recorded(logdir: Path) -> Path:
    (path,) = logdir.rglob("*.xplane.pb")
    return path


def test_ops_of_functions_and_of_eager_code_have_the_times_that_tensorflow_noted(tf: Any, tmp_path: Path) -> None:
    variable = tf.Variable(tf.ones([16, 16]))

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.relu(x @ variable) ** 2)
        variable.assign_sub(0.1 * tape.gradient(loss, variable))
        return loss

    given = tf.ones([4, 16])
    step(given)
    tf.profiler.experimental.start(str(tmp_path))
    for number in range(3):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(tf.exp(given)).numpy()
    tf.profiler.experimental.stop()
    path = _recorded(tmp_path)
    times, events = _times(path), _named(path)

    graph = {op.name: op.type for op in step.get_concrete_function(given).graph.get_operations()}
    run = [time for time in times if time.node in graph and graph[time.node] == time.op_type]
    assert Counter(time.node for time in run)["Mean"] == 3
    expected = [(name, spent) for name, spent in events if name.split(":")[0] in graph and "::" not in name]
    of_nodes = [(f"{time.node}:{time.op_type}", time.exec_us) for time in times if time.node in graph]
    assert Counter(of_nodes) == Counter(expected)

    eager = [time for time in times if (time.node, time.op_type) == ("Exp", "Exp")]
    noted = [spent for name, spent in events if name == "EagerLocalExecute: Exp"]
    assert sorted(time.exec_us for time in eager) == sorted(noted) and len(noted) == 3
    assert all(0 < time.op_us < time.exec_us for time in eager)

    facts, damages = read_profile(ProfileFile(path, ""))
    assert [(step.name, step.number) for step in facts.steps] == [("train", 0), ("train", 1), ("train", 2)]
    assert not damages and facts.events == len(events)
    assert not any(time.op_type.startswith("__") or " " in time.node for time in times)


def test_ops_of_a_session_have_their_times(tf: Any, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        fed = tf.compat.v1.placeholder(tf.float32, [None, 4], name="fed")
        out = tf.reduce_sum(tf.exp(fed, name="net/exp"), name="out")
        session.run(out, {fed: [[1.0, 2, 3, 4]]})
        tf.profiler.experimental.start(str(tmp_path))
        session.run(out, {fed: [[1.0, 2, 3, 4]]})
        tf.profiler.experimental.stop()
    times = _times(_recorded(tmp_path))
    assert {("net/exp", "Exp"), ("out", "Sum")} <= {(time.node, time.op_type) for time in times}
    assert sum(time.node == "net/exp" for time in times) == 1
