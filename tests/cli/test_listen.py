"""`tfdbg listen`: TensorFlow sends over loopback from another process, and there is none where it is received."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.launched import ROOT, begun
from support.sender import Sender
from support.sent_events import graph_pieces

from tfdbg_cli.cli.main import main
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.remote.address import Address

pytestmark = pytest.mark.tf
_PATIENCE = 240.0  # seconds, after which a test fails that would wait for ever

# The lines of the program that tests name stand in `made at`.
PROGRAM = """
import sys, threading
import numpy as np
import tensorflow as tf
from tensorflow.python.debug.lib import debug_utils
from tensorflow.python.debug.wrappers import grpc_wrapper

address, *modes = sys.argv[1:]
tf1 = tf.compat.v1
tf1.disable_eager_execution()
x = tf1.placeholder(tf.float32, [None], name="x")
with tf.device("/CPU:1"):
    y = tf.math.log(x, name="y")
total = tf.reduce_sum(y, name="total")
inverse = tf.linalg.inv(tf.zeros([2, 2]) * total, name="inverse")
large = tf.fill([1500000], total, name="large")
constant = tf.identity(tf.constant(np.arange(1200000, dtype=np.float32)) * total, name="constant")
session = tf1.Session(config=tf1.ConfigProto(device_count={"CPU": 2}))

def run(fetched, value, path=""):
    options = tf1.RunOptions()
    debug_utils.watch_graph(options, session.graph, debug_urls=[f"grpc://{address}{path}"])
    try:
        return session.run(fetched, {x: [value] * 3}, options=options)
    except tf.errors.InvalidArgumentError:
        print("failed")

for mode in modes:
    if mode == "good":
        run(total, 1.0)
    elif mode == "bad":
        run(total, -1.0)
    elif mode == "large":
        run([large, constant], 2.0)
    elif mode == "fails":
        run([total, inverse], 2.0)
    elif mode == "threads":
        threads = [threading.Thread(target=run, args=(total, 2.0, f"/{at}")) for at in range(3)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    elif mode == "board":
        grpc_wrapper.TensorBoardDebugWrapperSession(session, address).run(total, {x: [-1.0]})
print("ends", flush=True)
"""


class Listener:
    """`tfdbg listen 127.0.0.1:0 WORDS`, in a process that finds no TensorFlow."""

    def __init__(self, folder: Path, *words: object) -> None:
        without = folder / "without"
        (without / "tensorflow").mkdir(parents=True)
        (without / "tensorflow" / "__init__.py").write_text("raise ImportError('there is no TensorFlow here')")
        self.folder = folder
        (folder / "job.py").write_text(PROGRAM)
        environ = {**os.environ, "PYTHONPATH": f"{without}{os.pathsep}{ROOT}", "XDG_CONFIG_HOME": str(folder)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tfdbg_cli", "listen", "127.0.0.1:0", *map(str, words)],
            env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        found = re.search(r"Listening on (\S+:\d+), ", self.said)
        assert found is not None, self.said + self.process.stderr.read()
        self.address = found[1]

    def hear(self, *modes: str) -> str:
        """What a program prints that sends runs by those modes, to its end."""
        program = begun("job.py", self.address, *modes, folder=self.folder)
        out, err = program.communicate(timeout=_PATIENCE)
        assert program.returncode == 0, err
        return out

    def end(self) -> tuple[int, str, str]:
        """End it by Ctrl-C: its exit code, output and errors."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=_PATIENCE)
        return self.process.returncode, out, self.said + err


@contextmanager
def listener(folder: Path, *words: object) -> Iterator[Listener]:
    made = Listener(folder, *words)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.communicate()


def commands(*texts: str) -> list[str]:
    return [word for text in texts for word in ("-c", text)]


def test_the_prompt_opens_at_each_run_and_the_program_goes_on(tmp_path: Path) -> None:
    asked = commands("lt", "ni y", "run", "ri", "run", "origin")
    with listener(tmp_path, *asked) as made:
        assert made.hear("good", "fails", "bad", "good") == "failed\nends\n"
        code, out, err = made.end()
    assert code == 0, err
    assert "run-end: run #1: 1 fetch (total:0); 1 feed" in out
    assert re.search(r"Log +float32 +\[3\] +CPU:1 +y:0", out)
    assert "[_Arg]" in out
    assert "This run failed, or was cancelled: inverse:0, which it fetches, did not come." in out
    assert re.search(r"Origin +y:0 +Log", out)
    assert "Log of a negative number" in out
    assert "Streams are answered from now on" in err
    assert "No longer listening." in err


def test_json_is_what_it_is_elsewhere(tmp_path: Path) -> None:
    asked = commands("lt", "run", "pt large:0", "lt", "nonsense")
    with listener(tmp_path, "--json", *asked) as made:
        made.hear("good", "large")
        code, out, err = made.end()
    assert code == 1, err  # a command failed
    rows = [json.loads(row) for row in out.splitlines()]
    assert [row.get("kind") for row in rows] == ["tensors", "decision", "tensor", "tensors", None]
    found = {tensor["name"]: tensor for tensor in rows[0]["tensors"]}
    assert found["y:0"]["op_type"] == "Log"
    assert found["y:0"]["device"].endswith("CPU:1")
    assert (rows[2]["shape"], rows[2]["summary"]["size"]) == ([1_500_000], 1_500_000)
    assert next(one for one in rows[3]["tensors"] if one["name"] == "constant:0")["shape"] == [1_200_000]


def test_a_watch_stops_at_the_first_run_that_passes(tmp_path: Path) -> None:
    with listener(tmp_path, "--until", "has_inf_or_nan", *commands("ri")) as made:
        made.hear("good", "good", "bad", "good")
        code, out, err = made.end()
    assert code == 0, err
    assert "run #3: 1 fetch (total:0); 1 feed passed has_inf_or_nan after 3 runs" in out


def test_runs_are_recorded_while_the_program_goes_on(tmp_path: Path) -> None:
    with listener(tmp_path, "--record", tmp_path / "recorded") as made:
        made.hear("good", "bad", "threads")
        code, out, err = made.end()
    assert (code, out) == (0, ""), err
    runs = open_path(str(tmp_path / "recorded")).runs
    assert len(runs) == 5
    assert all("y" in run.graph for run in runs)
    assert all({str(run.tensors[at].name) for at in range(len(run.tensors))} >= {"y:0", "total:0"} for run in runs)


def test_what_waits_to_be_asked_for_comes_with_the_code_of_the_program(tmp_path: Path) -> None:
    with listener(tmp_path, *commands("origin", "ni -t y")) as made:
        made.hear("board")
        code, out, err = made.end()
    assert code == 0, err
    assert re.search(r"Made at +.*job\.py:13", out)
    assert 'y = tf.math.log(x, name="y")' in out


def test_commands_that_no_run_came_for_are_told(tmp_path: Path) -> None:
    """A blind test: they were dropped without a word, with exit code 0."""
    with listener(tmp_path, "--idle", "0", *commands("run -t 9", "lt")) as made:
        _, err = made.process.communicate(timeout=_PATIENCE)
        assert (made.process.returncode, "These commands were not used: run -t 9; lt." in err) == (1, True)


def test_it_ends_when_nothing_comes(tmp_path: Path) -> None:
    with listener(tmp_path, "--idle", "0") as made:
        out, _ = made.process.communicate(timeout=_PATIENCE)
        assert (made.process.returncode, out) == (0, "")


def test_who_cuts_a_run_off_is_told_what_becomes_of_it(tmp_path: Path) -> None:
    """A blind test: the second Ctrl-C made the program's run fail, and no sentence said so."""
    with listener(tmp_path) as made:
        assert made.process.stderr is not None
        sender = Sender(Address.read(made.address))
        sender.send(*graph_pieces(), end=False)
        assert next(sender.replies) == b""
        made.process.send_signal(signal.SIGINT)
        assert "it is answered until it ends, and no other is taken" in (said := made.process.stderr.readline())
        assert "it fails in the program if it sends more" in said
        code, _, err = made.end()
        sender.channel.close()
    assert (code, "a run that sends more fails in the program" in err) == (0, True)


def test_the_help_names_no_option_that_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["listen", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "--record PATH" in told
    assert not [word for word in ("--stats-only", "--worker", "TF_CONFIG", "workers of a job") if word in told]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "'nonsense' is no address."),
        (["127.0.0.1:0", "--idle", "-1"], "Times are numbers of seconds above 0."),
        (["127.0.0.1:0", "--keep", "2"], "A watch is described, and no filter named."),
        (["127.0.0.1:0", "--stats-only", "--record", "x"], "--stats-only is for `tfdbg run`"),
        (["127.0.0.1:0", "--until", "nonsense"], "no filter"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["listen", *words]) == 1
    assert said in capsys.readouterr().err
