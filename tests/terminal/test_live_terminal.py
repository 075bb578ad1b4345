"""`tfdbg run --live` on a real terminal: the lines at its bottom, and the terminal afterwards."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pexpect
import pyte
import pytest

pytestmark = [pytest.mark.terminal, pytest.mark.tf]

ROOT = Path(__file__).parent.parent.parent
TRAINING = """
import os, sys, time
import tensorflow as tf
w = tf.Variable([1.0, 2.0])

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w * x))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss

number = 0
while not os.path.exists("end"):
    number += 1
    step(tf.constant(1.0))
    time.sleep(0.005)  # leaves the processor to those who watch
    if number % 10 == 0:
        print("step", number, sys.stdout.isatty(), flush=True)
    if os.path.exists("child"):
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            sys.exit("no child")
sys.exit(3)
"""


class Seen:
    """A program in a terminal, and its screen."""

    def __init__(self, folder: Path, *words: str) -> None:
        environ = {
            **os.environ, "HOME": str(folder), "TERM": "xterm", "PYTHONPATH": str(ROOT), "NO_COLOR": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }  # fmt: skip
        (folder / "train.py").write_text(TRAINING)
        self._child = pexpect.spawn(
            sys.executable, ["-m", "tfdbg_cli", "run", *words, "train.py"],
            cwd=str(folder), env=environ, timeout=120, dimensions=(24, 80),
        )  # fmt: skip
        self.pid = self._child.pid
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self._screen)

    def until(self, shown: Callable[[list[str]], bool]) -> list[str]:
        """The rows of the screen once they are as asked."""
        end = time.monotonic() + 120
        while True:
            with suppress(pexpect.TIMEOUT, pexpect.EOF, ValueError):  # the last for one that has ended
                self._stream.feed(self._child.read_nonblocking(1 << 16, timeout=0.1))
            rows = [row.rstrip() for row in self._screen.display]
            if shown(rows):
                return rows
            assert time.monotonic() < end, "\n".join(rows)

    def press(self, keys: str) -> None:
        self._child.send(keys)

    def code(self) -> int:
        self._child.expect(pexpect.EOF)
        self._stream.feed(self._child.before)
        self._child.close()
        return self._child.exitstatus

    @property
    def margins(self) -> object:
        """The scrolling region of the terminal; None or all of it where it is whole."""
        return self._screen.margins

    def close(self) -> None:
        self._child.close(force=True)


@pytest.fixture
def start(tmp_path) -> Iterator[Callable[..., Seen]]:
    made = []

    def begin(*words: str) -> Seen:
        made.append(Seen(tmp_path, *words))
        return made[-1]

    yield begin
    for one in made:
        one.close()


def _live(rows: list[str]) -> bool:
    return rows[-2].startswith("── tfdbg ") and "a second" in rows[-2]


def _prints(rows: list[str]) -> bool:
    return any(row.startswith("step ") for row in rows)


def test_the_lines_stay_at_the_bottom_and_go_with_the_program(start, tmp_path) -> None:
    seen = start("--until", "has_inf_or_nan", "--live")
    rows = seen.until(lambda rows: _live(rows) and rows[-1].startswith(" no has_inf_or_nan in "))
    rows = seen.until(_prints)
    assert any(row.endswith("True") for row in rows if row.startswith("step ")), "it writes to a terminal"
    seen.press("\x03")
    rows = seen.until(lambda rows: "To type a command" in "\n".join(rows))
    assert not any(row.startswith("── tfdbg ") for row in rows)
    seen.press("F")
    seen.until(lambda rows: _live(rows) and rows[-1].startswith(" no has_inf_or_nan in "))
    (tmp_path / "end").touch()
    assert seen.code() == 3
    rows = seen.until(lambda rows: True)
    assert not any(row.startswith("── tfdbg ") for row in rows)
    assert seen.margins is None or tuple(seen.margins) == (0, 23)


def test_a_killed_program_leaves_the_terminal_whole(start) -> None:
    seen = start("--watch", "--live", "--trends", "--every", "3")
    drawn = seen.until(
        lambda rows: rows[-3].startswith("── tfdbg ") and rows[-1].startswith(" gradient ") and _prints(rows)
    )
    assert drawn[-2].startswith(" no bad_result in ")
    os.kill(seen.pid, signal.SIGKILL)
    rows = seen.until(lambda rows: not any(row.startswith("── tfdbg ") for row in rows))
    assert _prints(rows)
    assert seen.margins is None or tuple(seen.margins) == (0, 23)


def test_the_program_has_no_child_of_ours(start, tmp_path) -> None:
    seen = start("--watch", "--live")
    seen.until(_live)
    (tmp_path / "child").touch()
    assert seen.code() == 1
    seen.until(lambda rows: "no child" in rows)
