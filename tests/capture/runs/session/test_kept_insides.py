"""Kept runs that cannot be checked inside TensorFlow: a hit shows what their functions computed, made once more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import Detach, RunUntil, Values
from tfdbg_cli.model.runs import Run

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("loops_of_v1")]


def _hit(tf: Any, tf2: Any, debugged: Any, until: RunUntil) -> Run:
    """The hit of a program in which a branch of version 1 calls a function with a loop: the root of what is < 0."""

    @tf2.function(autograph=False)
    def rooted(value: Any) -> Any:
        return tf2.while_loop(
            lambda i, _: i < 2, lambda i, held: (i + 1, tf2.sqrt(held, name="root") - 0.5), [0, value]
        )[1]

    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(tf.cond(x[0] > 0.5, lambda: x, lambda: rooted(x)), name="y")
    with tf.Session() as raw:
        session, front = debugged(raw, until, Detach())
        for given in (2.0, 3.0, -1.0):
            session.run(y, {x: [given, 4.0]})
    return front.ends[0].run


def test_the_origin_is_the_op_in_the_function(tf, tf2, debugged, graph) -> None:
    """A blind test: the branch was named, and without --keep the root."""
    run = _hit(tf, tf2, debugged, RunUntil("has_inf_or_nan", keep=2))
    first = OriginSearch(run).first()
    assert first.name.node.startswith("cond/PartitionedCall/") and first.name.node.endswith("/root")
    (row,) = run.tensors.named("y", 0)
    np.testing.assert_array_equal(run.tensors.value(row), np.float32([np.nan, np.sqrt(1.5, dtype="f4") - 0.5]))
    assert not run.inside_lacks
    assert any("all else was kept while the run happened" in note for note in run.notes)


def test_who_wants_kept_values_alone_is_told_how_to_see_more(tf, tf2, debugged, graph) -> None:
    run = _hit(tf, tf2, debugged, RunUntil("has_inf_or_nan", values=Values.KEEP))
    assert run.inside_lacks.endswith("`run -f … --values replay` shows it, where the run can be made again.")
    assert str(OriginSearch(run).first().name) == "cond/Merge:0"
