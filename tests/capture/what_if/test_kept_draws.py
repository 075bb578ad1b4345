"""What a run got from outside is kept where what it depends on is replaced, and the sentence says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.what_if_runs import captured, value_of

from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.cli.replay import FromBundle
from tfdbg_cli.model.names import TensorName

pytestmark = pytest.mark.tf


_DRAWING = {"None_Lookup/LookupTableFindV2", "EagerPyFunc", "random_uniform/RandomUniform"}


def _functions() -> dict[str, Any]:
    """Functions that get something from outside, by where from."""
    import tensorflow as tf

    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], [10.0, 20.0]), 7.0)

    @tf.function
    def of_table(n):
        return table.lookup(tf.cast(n, tf.int32)) * 2.0

    @tf.function
    def of_python(n):
        return tf.py_function(lambda z: z * 3, [n], tf.float32) * 2.0

    @tf.function
    def at_random(n):
        return tf.random.uniform(tf.reshape(tf.cast(n, tf.int32), [1])) * 2.0

    return {"table": of_table, "python": of_python, "random": at_random}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("table", "Nothing is looked up again in a table: what the run got from {} is kept."),
        ("python", "No Python function is called again: what the run got from {} is kept."),
        ("random", "{} would give something else each time, so what the run got from there is kept."),
    ],
)
def test_it_is_said_in_the_run_itself_and_where_it_is_made_again(where: str, said: str) -> None:
    """A blind test: made again elsewhere it was kept without a word, and a table was said to be like a draw."""
    import tensorflow as tf

    from tfdbg_cli.capture.replay.any_replay import replay
    from tfdbg_cli.capture.runs.function.traced_function import traced_function
    from tfdbg_cli.capture.tf.compat import atomic_of
    from tfdbg_cli.capture.what_if.of_replay import what_if_of

    function, given = _functions()[where], tf.constant(2.0)
    run, what_if, inputs = captured(function, given)
    (drawing,) = _DRAWING.intersection(run.graph.names())
    said = said.format(drawing)
    other = {TensorName("n", 0): np.float32(1.0)}
    made = what_if.again(run, other)
    assert said in made.notes

    traced = traced_function(atomic_of(function.get_concrete_function(given)))
    held = CallSnapshot.of(traced.snapshot_plan, inputs)
    held.take_drawn(traced.instrumented.perform(inputs))
    spec = held.replay_spec()
    elsewhere = replace(replay(spec).of(run), replayable=FromBundle(spec))
    again = what_if_of(spec).again(elsewhere, other)
    assert said in again.notes
    result = str(run.call.fetches[0]).split(":")[0]
    np.testing.assert_array_equal(value_of(again, result), value_of(elsewhere, result))


def test_nothing_is_said_of_what_does_not_depend_on_what_is_replaced() -> None:
    import tensorflow as tf

    from tfdbg_cli.capture.what_if.kept_draws import draws_behind

    function = _functions()["table"]
    run, what_if, _ = captured(function, tf.constant(2.0))
    lookup = TensorName("None_Lookup/LookupTableFindV2", 0)
    assert draws_behind(run, [TensorName("n", 0)], [lookup])
    assert not draws_behind(run, [lookup], [lookup])
    assert not any("is kept" in note for note in what_if.again(run, {lookup: np.float32(1.0)}).notes)
