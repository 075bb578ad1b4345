"""Workers of one job, each a program of its own under `tfdbg run --record`, record into one folder."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.launched import begun
from support.prompt import Prompt
from support.warm_python import PipedProgram

from tfdbg_cli.formats.opening import open_path

# It says which worker it is when TensorFlow is loaded already, as tutorials do.
_TOGETHER = """
import json, os, sys
import tensorflow as tf
index, ports = int(sys.argv[1]), sys.argv[2].split(",")
cluster = {"worker": [f"localhost:{port}" for port in ports]}
os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    w = tf.Variable([1.0, 2.0], name="w")

@tf.function
def train_step(x):
    def replica_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.square(w * x))
        gradient = tf.distribute.get_replica_context().all_reduce("sum", tape.gradient(loss, w))
        w.assign_sub(0.1 * gradient)
        return loss
    return strategy.run(replica_step, args=(x,))

for number in range(3):
    train_step(tf.constant([1.0, index + 1.0]))
"""
_ALONE = """
import sys, time
import tensorflow as tf
w = tf.Variable([1.0, 2.0], name="w")

@tf.function
def train_step(x):
    w.assign_sub(0.1 * x)
    return tf.reduce_sum(w)

for number in range(int(sys.argv[1])):
    train_step(tf.constant([1.0, 2.0]))
print("trained", flush=True)
sys.stdin.read()
"""


def _ports(count: int) -> list[int]:
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _started(path: Path, program: Sequence[str], **environ: str) -> subprocess.Popen[str] | PipedProgram:
    known = {name: value for name, value in os.environ.items() if name != "TF_CONFIG"}
    whole = {**known, "CUDA_VISIBLE_DEVICES": "-1", **environ}
    return begun("-m", "tfdbg_cli", "run", "--ui", "none", "--record", path, *program, environ=whole)


@pytest.mark.timeout(280)
def test_two_workers_of_a_strategy_record_into_one_folder(tmp_path: Path) -> None:
    script, job = tmp_path / "train.py", tmp_path / "job"
    script.write_text(_TOGETHER)
    ports = ",".join(map(str, _ports(2)))
    workers = [_started(job, [str(script), str(index), ports]) for index in range(2)]
    said = [worker.communicate(timeout=240)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], said
    assert f"recorded in {job} as those of the worker worker0" in said[0]
    opened = open_path(job)
    assert opened.workers == ["worker0", "worker1"] and not opened.notes
    titles = [run.call.title for run in opened.runs]
    for worker in opened.workers:
        assert [title for title in titles if worker in title] == [
            f"run #{number} of {worker}: train_step(x)" for number in (1, 2, 3)
        ]
    prompt = Prompt(opened)
    batches = set()
    for place in range(len(opened.runs)):
        prompt.run(f"runs {place + 1}")
        data = prompt.data("pf x")
        batches.add(json.dumps(data["value"]))
    assert len(batches) == 2  # each has a batch of its own


@pytest.mark.timeout(280)
def test_a_worker_that_is_killed_leaves_its_runs_and_the_others(tmp_path: Path) -> None:
    script, job = tmp_path / "train.py", tmp_path / "job"
    script.write_text(_ALONE)
    cluster = {"chief": ["a:1"], "worker": ["b:1"]}
    config = json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}})
    chief = _started(job, [str(script), "3"], TF_CONFIG=config)
    other = _started(job, ["--worker", "second", str(script), "12"])
    for process in (chief, other):
        assert process.stdout is not None
        assert process.stdout.readline() == "trained\n"
    os.kill(other.pid, signal.SIGKILL)
    other.communicate()
    third = _started(job, [str(script), "1"])
    told = third.communicate(timeout=240)[1]
    assert third.returncode == 1
    assert f"Workers of a job record in {job}: chief0, second." in told and "--worker NAME" in told
    twice = _started(job, ["--worker", "chief0", str(script), "1"])
    told = twice.communicate(timeout=240)[1]
    assert twice.returncode == 1 and f"is recording in {job / 'chief0'}: process {chief.pid} on" in told
    assert "3 runs were recorded" in chief.communicate(timeout=240)[1]
    runs = open_path(job).runs
    numbers = {name: [run.call.number for run in runs if run.call.worker == name] for name in ("chief0", "second")}
    assert numbers["chief0"] == [1, 2, 3]
    assert len(numbers["second"]) >= 8 and numbers["second"] == list(range(1, len(numbers["second"]) + 1))
