"""A program makes several runs in turn: what runs made again need is prepared once for each of them."""

from __future__ import annotations

from typing import Any

import pytest
from test_unchanged import Quotient

from tfdbg_cli.capture.replay.prepared_run import PreparedRun
from tfdbg_cli.capture.replay.session_copy import SessionCopy
from tfdbg_cli.model.decision import Detach, RunUntil

pytestmark = pytest.mark.tf

TURNS = 10


class Made:
    """How many copies were made, and how many runs in them were prepared."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.copies = self.prepared = 0
        copy, prepared = SessionCopy.__init__, PreparedRun.__init__

        def new_copy(one: Any, *given: Any) -> None:
            self.copies += 1
            copy(one, *given)

        def new_run(one: Any, *given: Any) -> None:
            self.prepared += 1
            prepared(one, *given)

        monkeypatch.setattr(SessionCopy, "__init__", new_copy)
        monkeypatch.setattr(PreparedRun, "__init__", new_run)

    @property
    def count(self) -> tuple[int, int]:
        return self.copies, self.prepared


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    return Made(monkeypatch)


def test_runs_in_turn_that_are_watched_on_copies_are_prepared_once(tf, debugged, graph, made) -> None:
    """A blind test: a GAN has two optimizers, and each of its runs was given a copy and a session anew."""
    steps = []
    for name in ("generator", "discriminator"):
        with tf.variable_scope(name):
            steps.append(Quotient(tf))
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, RunUntil("has_inf_or_nan"), Detach())
        counts = []
        for _ in range(TURNS):
            for step in steps:
                session.run(step.fetches, {step.scale: 0.01})
            counts.append(made.count)
        session.run(steps[1].fetches, {steps[1].scale: float("inf")})
    assert counts[0][0] == len(steps)
    assert counts[2:] == counts[1:2] * (TURNS - 2), "nothing is prepared once each was watched on its copy"
    (end,) = front.ends
    assert any("was left as it is, and looked at when it was made again" in note for note in end.run.notes)
