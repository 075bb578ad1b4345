"""Before a large graph is prepared, which takes seconds, a sentence says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfdbg_cli.capture import failures, large_graphs
from tfdbg_cli.model.decision import Continue, DebugRun, Detach, RunUntil

pytestmark = pytest.mark.tf

WATCH = RunUntil("has_inf_or_nan")


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_graphs, "_LARGE", 5)
    failures._REMARKED.clear()


@pytest.mark.parametrize(("decision", "what"), [(WATCH, "its checks"), (DebugRun(), "the values of all of them")])
def test_a_session_says_it_once(tf, debugged, graph, capsys, decision, what) -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.exp(tf.tanh(tf.exp(tf.tanh(tf.exp(x) * 2.0))))
    with tf.Session() as raw:
        session, _ = debugged(raw, decision, decision, decision, Detach())
        for _ in range(3):
            session.run(y, {x: np.zeros(3)})
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("tfdbg: The graph")]
    assert len(said) == 1
    assert said[0].endswith(
        f" ops: preparing {what} takes about 5 seconds, once; on a busy machine several times as long."
    )


@pytest.mark.parametrize(("decision", "what"), [(WATCH, "its checks"), (DebugRun(), "the values of all of them")])
def test_a_function_says_it_once(tf2: Any, watched: Any, capsys: Any, decision: Any, what: str) -> None:
    @tf2.function(autograph=False)
    def step(x: Any) -> Any:
        return tf2.exp(tf2.tanh(tf2.exp(tf2.tanh(tf2.exp(x) * 2.0))))

    with watched(decision, decision, decision, Continue()):
        for _ in range(3):
            step(tf2.zeros(3))
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("tfdbg: step has")]
    assert len(said) == 1
    assert said[0].endswith(
        f" ops: preparing {what} takes about 5 seconds, once; on a busy machine several times as long."
    )


@pytest.mark.parametrize(
    ("ops", "time"), [(5_000, "about 5 seconds"), (8_122, "about 10 seconds"), (12_000, "15 to 60 seconds")]
)
def test_how_long_it_takes_is_told_by_the_number_of_ops(capsys: Any, ops: int, time: str) -> None:
    """A blind test: what was said to take some seconds took a minute on a busy machine."""
    large_graphs.announce("step", ops, large_graphs.Preparation.CHECKS)
    assert f"takes {time}, once; on a busy machine several times as long." in capsys.readouterr().err


def test_a_small_graph_says_nothing(tf, debugged, graph, capsys, monkeypatch) -> None:
    monkeypatch.undo()
    x = tf.placeholder(tf.float32, [3], name="x")
    with tf.Session() as raw:
        session, _ = debugged(raw, WATCH, Detach())
        session.run(tf.exp(x), {x: np.zeros(3)})
    assert "preparing" not in capsys.readouterr().err
