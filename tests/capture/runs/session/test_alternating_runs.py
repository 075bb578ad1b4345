"""A program makes several runs in turn: what runs made again need is prepared once for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_unchanged import Quotient

from tfdbg_cli.capture import failures
from tfdbg_cli.capture.replay import shelf
from tfdbg_cli.capture.replay.prepared_run import PreparedRun
from tfdbg_cli.capture.replay.session_copy import SessionCopy
from tfdbg_cli.capture.runs.session.copied_watch import CopiedWatch
from tfdbg_cli.capture.sessions.exact.run_effect import RunEffect
from tfdbg_cli.model.decision import Detach, RunUntil
from tfdbg_cli.model.replay import InputRole

pytestmark = pytest.mark.tf

TURNS = 10
WATCH = RunUntil("has_inf_or_nan")


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


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Has memory room for that many bytes of what is kept prepared."""

    def has(nbytes: int) -> None:
        monkeypatch.setattr(shelf, "room_for_later", lambda: nbytes)

    has(1 << 30)
    return has


def steps_of(tf: Any, count: int) -> list[Quotient]:
    """Steps of which each is another kind of run, and is given other numbers by a reader more."""
    steps = []
    for at in range(count):
        with tf.variable_scope(f"step{at}"):
            steps.append(Quotient(tf))
    return steps


def counted(session: Any, steps: list[Quotient], made: Made) -> list[tuple[int, int]]:
    """Make all `steps` in turn, again and again: what was made until the end of each turn."""
    counts = []
    for _ in range(TURNS):
        for step in steps:
            session.run(step.fetches, {step.scale: 0.01})
        counts.append(made.count)
    return counts


@pytest.mark.parametrize("count", [2, 18])
def test_runs_in_turn_that_are_watched_on_copies_are_prepared_once(
    tf, debugged, graph, made, room, capsys, count
) -> None:
    """A blind test: a GAN has two optimizers, and each of its runs was given a copy and a session anew."""
    steps = steps_of(tf, count)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, WATCH, Detach())
        counts = counted(session, steps, made)
        session.run(steps[1].fetches, {steps[1].scale: float("inf")})
    assert counts[0][0] == count
    assert counts[2:] == counts[1:2] * (TURNS - 2), "nothing is prepared once each was watched on its copy"
    (end,) = front.ends
    assert any("was left as it is, and looked at when it was made again" in note for note in end.run.notes)
    assert "prepared anew" not in capsys.readouterr().err


def test_where_memory_has_no_room_to_keep_them_it_is_said_that_this_is_slow(
    tf, debugged, graph, made, room, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(failures, "_REMARKED", {})
    room(0)
    with tf.Session() as raw:
        steps = steps_of(tf, 6)
        raw.run(tf.global_variables_initializer())
        session, _ = debugged(raw, WATCH, Detach())
        counts = counted(session, steps, made)
    assert counts[-1][0] == TURNS * len(steps)
    said = "The program makes more kinds of runs in turn than memory has room to keep prepared"
    assert capsys.readouterr().err.count(said) == 1


def test_the_order_that_agreed_last_is_tried_first(tf, debugged, graph, monkeypatch) -> None:
    """Where TensorFlow takes the same order each time a run is made again once, not once for each order."""
    tried: list[bool] = []
    original = CopiedWatch._checked

    def checked(watch: Any, held: Any, attempt: Any) -> Any:
        fed = any(
            given.role is InputRole.SOURCE for given in attempt.inputs
        )  # what was read is fed: an order is kept
        tried.append(fed)
        checking, _ = original(watch, held, attempt)
        return checking, watch.outcome if fed else other

    monkeypatch.setattr(CopiedWatch, "_checked", checked)
    c = tf.get_variable("c", initializer=0.0, use_resource=True)
    fetches = [c.assign_add(1.0), c.read_value()]
    other = RunEffect({}, {"c": np.float32(-1.0)})
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, _ = debugged(raw, WATCH, Detach())
        for _ in range(3):
            session.run(fetches)
    assert tried == [False, True, True, True]


def test_an_order_in_which_an_op_fails_is_passed_over(tf, debugged, graph, monkeypatch, capsys) -> None:
    """A program of others, whose summary of a weight fails once that is NaN: read before its update or after it."""
    original, tried = CopiedWatch._checked, list[bool]()

    def checked(watch: Any, held: Any, attempt: Any) -> Any:
        fed = any(given.role is InputRole.SOURCE for given in attempt.inputs)
        tried.append(fed)
        if not fed or always:
            raise tf.errors.InvalidArgumentError(None, None, "Nan in summary histogram for: c\n\t [[{{node c}}]]")
        checking, _ = original(watch, held, attempt)
        return checking, watch.outcome

    monkeypatch.setattr(CopiedWatch, "_checked", checked)
    c = tf.get_variable("c", initializer=0.0, use_resource=True)
    fetches = [c.assign_add(1.0), c.read_value()]
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, _ = debugged(raw, WATCH, Detach())
        always = False
        session.run(fetches)
        assert tried[:2] == [False, True] and not capsys.readouterr().err
        always = True
        session.run(fetches)
    said = capsys.readouterr().err
    why = "InvalidArgumentError: Nan in summary histogram for: c"
    assert f"could not check a run that was made again ({why}); the program goes on without it." in said
