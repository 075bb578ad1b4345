"""How many ops a watch says that it has looked at."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.runs.eager.seen_ops import SeenOps
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


def test_ops_of_a_watch_are_those_since_it_began() -> None:
    seen = SeenOps()
    seen.section_ends(5, is_run=True)
    seen.watch_begins(3)
    seen.section_ends(4, is_run=False)
    assert (seen.every, seen.outside, seen.by_watch) == (9, 4, 1)


def test_ops_before_a_stop_are_not_counted_behind_it() -> None:
    """A blind test: "Since the last stop nothing passed … in 206 ops", where a few had run since then."""
    front = ScriptedFrontend(RunUntil("has_inf_or_nan"))
    debugger = Debugger(lambda: front)
    debugger.attendant = watch = watch_of(debugger)
    debugger.set_watch(RunUntil("has_inf_or_nan"))
    weight = tf.Variable(np.ones(2, np.float32))
    try:
        for turn in range(5):
            weight.assign_sub(weight * 0.1)
            if turn == 3:
                tf.math.log(weight - weight)
        watch.end()
    finally:
        debugger.attendant = None
        watch.attend(False)
    assert len(front.ends) == 1
    assert watch.seen.every > 10
    assert watch.seen.by_watch == 3, "a read, a product and an update"
