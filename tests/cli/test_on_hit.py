"""`tfdbg run --on-hit`: which workers of a job stop."""

from __future__ import annotations

import json
import os

import pytest
from support.attached import wait_for
from support.launched import begun, python

from tfdbg_cli.cli.main import main

pytestmark = pytest.mark.tf

# Goes on until the file `end` is there; gives NaN in its fifth run where it is told to.
_WORKER = """
import os, sys, time
import tensorflow as tf
step = tf.function(lambda x: tf.math.log(x))
step(tf.constant(2.0))
open(f"began{sys.argv[1]}", "w").close()
while not os.path.exists("began0") or not os.path.exists("began1"):
    time.sleep(0.002)  # leaves the processor to those who watch
for turn in range(10**9):
    time.sleep(0.002)  # leaves the processor to those who watch
    if os.path.exists("end"):
        break
    step(tf.constant(-1.0 if sys.argv[2] == "bad" and turn == 3 else 2.0))
print("ends")
"""
_ONE = "import tensorflow as tf\ntf.function(lambda x: tf.math.log(x))(tf.constant(-1.0))\nprint('ends')\n"


@pytest.mark.parametrize("way", ["all", "one"])
def test_the_others_stop_where_all_are_to(tmp_path, way) -> None:
    (tmp_path / "job.py").write_text(_WORKER)
    made = []
    for index, kind in enumerate(("good", "bad")):
        told = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": index}}
        environ = {**os.environ, "TF_CONFIG": json.dumps(told), "TFDBG_JOB": str(tmp_path / "meeting")}
        words = ("--until", "has_inf_or_nan", "--on-hit", way, "--bundle", f"b{index}", "job.py", str(index), kind)
        made.append(begun("-m", "tfdbg_cli", "run", *words, folder=tmp_path, environ=environ))
    last = "b0" if way == "all" else "b1"  # who writes one has stopped
    wait_for((tmp_path / last).exists)
    (tmp_path / "end").touch()
    (good, said_to_good), (bad, said_to_bad) = (one.communicate(timeout=240) for one in made)
    assert good.endswith("ends\n") and bad.endswith("ends\n")
    assert [one.returncode for one in made] == [0, 0]
    assert "run #5: <lambda>(x) passed has_inf_or_nan" in bad
    if way == "one":
        assert "worker1" not in good + said_to_good
        assert not (tmp_path / "b0").exists()
        return
    assert "Told of this (--on-hit all): worker0." in said_to_bad
    assert "worker1: its run #5 passed has_inf_or_nan. The prompt opens after this run." in said_to_good
    assert "What worker1 found in its run #5 (--on-hit all) ended the watch: nothing passed has_inf_or_nan in" in good
    assert list((tmp_path / "meeting").iterdir()) == []  # who has ended is there no longer


def test_nobody_is_asked_where_none_is_to_stop(tmp_path) -> None:
    (tmp_path / "job.py").write_text(_ONE)
    words = ("--watch", "--on-hit", "none", "job.py")
    done = python("-m", "tfdbg_cli", "run", *words, folder=tmp_path, given="version\nexit\n")
    assert "Log of a negative number" in done.stdout
    assert "since --on-hit none lets nobody be asked: the program goes on undebugged." in done.stdout
    assert "tfdbg>" not in done.stdout
    assert done.stdout.endswith("ends\n")
    assert done.returncode == 0


def test_a_program_that_is_no_worker_says_that_nobody_else_stops(tmp_path) -> None:
    (tmp_path / "job.py").write_text(_ONE)
    done = python("-m", "tfdbg_cli", "run", "--watch", "--on-hit", "all", "job.py", folder=tmp_path)
    assert "No other worker is told (--on-hit all)" in done.stderr
    assert done.stdout.endswith("ends\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--on-hit", "none"], "--on-hit none is about what a watch finds, and there is none."),
        (["--watch", "--on-hit", "none", "-c", "lt"], "--on-hit none and -c exclude each other"),
        (["--watch", "--on-hit", "none", "--ui", "line"], "--on-hit none and --ui exclude each other"),
        (["--watch", "--on-hit", "none", "--listen", ":0"], "--on-hit none and --listen exclude each other"),
        (["--watch", "--on-hit", "none", "--unattended", "wait"], "--on-hit none and --unattended wait exclude"),
        (["--watch", "--on-hit", "two"], "invalid choice: 'two'"),
    ],
)
def test_options_that_make_no_sense_are_told(words, sentence, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text("")
    assert main(["run", *words, "x.py"]) == 1
    assert sentence in capsys.readouterr().err
