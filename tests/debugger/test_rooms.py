"""The ways through the rooms that docs/design.md tells, held against runs that are followed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from support.package_source import PACKAGE, PROJECT

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun, Decision, Detach, RunUntil
from tfdbg_cli.model.runs import RunEnd, Stop

pytestmark = pytest.mark.tf

# Where TensorFlow begins to run something.
_ENTRIES = {
    ("session.py", "_run"),
    ("session.py", "__call__"),
    ("atomic_function.py", "call_flat"),
    ("atomic_function.py", "call_preflattened"),
    ("context.py", "call_function"),
    ("compat.py", "run_function"),  # ours, which calls none of these
}


def told(heading: str) -> list[str]:
    """The files of the numbered list under a heading of docs/design.md."""
    text = (PROJECT / "docs" / "design.md").read_text(encoding="utf-8")
    section = text.split(f"## {heading}, followed through the rooms\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\d+\. `([\w/]+\.py)`", section, re.MULTILINE)


def ours(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE):
            yield path.relative_to(PACKAGE).as_posix()
        frame = frame.f_back


class Follower:
    """Notes our files on the stack wherever TensorFlow is entered and the prompt opens; is the front end, too."""

    settings = Settings()
    failures = 0
    broken = False

    def __init__(self, *decisions: Decision) -> None:
        self._decisions = list(decisions)
        self.seen: set[str] = set()
        self.stops: list[Stop] = []

    def stop(self, event: Stop) -> Decision:
        self.stops.append(event)
        self.seen.update(ours(sys._getframe(1)))
        return self._decisions.pop(0) if self._decisions else Detach()

    def notify(self, message: str) -> None:
        raise AssertionError(message)

    def follow(self, call: Callable[[], Any]) -> set[str]:
        self.seen.clear()
        before = sys.getprofile()
        sys.setprofile(self._profile)
        try:
            call()
        finally:
            sys.setprofile(before)
        return set(self.seen)

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and (Path(code.co_filename).name, code.co_name) in _ENTRIES:
            self.seen.update(ours(frame))


def test_a_watched_session_run() -> None:
    import tensorflow.compat.v1 as tf

    from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession

    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [3], name="x")
        w = tf.get_variable("w", initializer=np.ones(3, np.float32))
        loss = tf.reduce_sum(tf.math.log(x) * w)
        update = w.assign_sub(0.1 * tf.gradients(loss, [w])[0])
    follower = Follower(RunUntil("has_inf_or_nan"))
    with tf.Session(graph=graph) as raw:
        raw.run(w.initializer)
        session = DebuggedSession(raw, Debugger(lambda: follower))
        for _ in range(4):
            session.run([loss, update], {x: [1.0, 2.0, 3.0]})
        passed = follower.follow(lambda: session.run([loss, update], {x: [1.0, 2.0, 3.0]}))
        hit = follower.follow(lambda: session.run([loss, update], {x: [1.0, -2.0, 3.0]}))
    stop = follower.stops[-1]
    assert isinstance(stop, RunEnd) and stop.hit is not None
    listed = told("One watched `Session.run`")
    assert passed | hit == set(listed)
    assert len(listed) <= 14


def test_a_captured_call_of_a_function() -> None:
    import tensorflow as tf

    from tfdbg_cli.capture.intercept.debugged_function import DebuggedFunction

    follower = Follower(DebugRun(), DebugRun())
    step = DebuggedFunction(tf.function(lambda x: tf.reduce_sum(tf.math.log(x))), Debugger(lambda: follower))
    step(tf.constant([1.0, 2.0]))
    seen = follower.follow(lambda: step(tf.constant([1.0, 2.0])))
    assert isinstance(follower.stops[-1], RunEnd)
    listed = told("One captured call of a function")
    assert seen == set(listed)
    assert len(listed) <= 18
