"""Rows of ragged and sparse tensors that eager ops are given from outside are rows of these, not of their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.components import components
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.capture.runs.eager.log.composites import Composite, composites_at_hand
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.capture.tf.compat import tensor_id
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.runs import Run

pytestmark = pytest.mark.tf
RAGGED = tf.ragged.constant([[1.0, 2.0], [3.0], [4.0, 0.0], [5.0]])
EMPTY = tf.ragged.constant([[1.0, 2.0], [], [4.0, 3.0], [5.0]])
NESTED = tf.ragged.constant([[[1.0], [2.0, 3.0]], [], [[4.0], [5.0, 0.0]], [[6.0]]])
TEXTS = tf.ragged.constant([["1", "2"], ["3"], ["4", "0"], ["5"]])
SPARSE = tf.sparse.from_dense([[1.0, 0.0], [2.0, 3.0], [0.0, -1.0], [4.0, 0.0]])


def _watched(function: Callable[[Any], Any], given: Any, turns: int = 1) -> Run:
    """The run in which something was bad first: in the last of `turns`, in which `function` is called."""
    decision = RunUntil("has_inf_or_nan")
    front = ScriptedFrontend(decision)
    debugger = Debugger(lambda: front)
    debugger.attendant = watch = watch_of(debugger)
    debugger.set_watch(decision)
    weight = tf.Variable(0.0)
    try:
        for turn in range(turns):
            if turn == turns - 1:
                function(given)
            else:
                tf.abs(given)
            weight.assign_add(1.0)
    finally:
        debugger.attendant = None
        watch.attend(False)
    return front.ends[0].run


def _batch(function: Callable[[Any], Any], given: Any, turns: int = 1) -> BatchRows:
    origin = OriginSearch(_watched(function, given, turns)).first()
    assert origin is not None
    return origin.batch


CASES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "elements": (lambda r: tf.math.log(r), RAGGED),
    "the least of a row": (lambda r: tf.math.log(tf.reduce_min(r, axis=1)), RAGGED),
    "padded": (lambda r: tf.math.log(r.to_tensor(default_value=1.0)), RAGGED),
    "turned round": (lambda r: tf.math.log(r[:, ::-1]), RAGGED),
    "gathered": (lambda r: tf.math.log(tf.gather(r, [3, 2, 0])), RAGGED),
    "of several levels": (lambda r: tf.math.log(r), NESTED),
    "numbers of texts": (lambda r: tf.math.log(tf.strings.to_number(r.flat_values)), TEXTS),
    "elements of a sparse tensor": (lambda s: tf.math.log(s.values), SPARSE),
    "made dense": (lambda s: tf.math.log(tf.sparse.to_dense(s, default_value=1.0)), SPARSE),
    "put in order": (lambda s: tf.math.log(tf.sparse.transpose(s).values), SPARSE),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_rows_are_of_the_whole(name: str) -> None:
    found = _batch(*CASES[name])
    assert (found.rows, found.size, found.stored) == ((2,), 4, True)


def test_an_empty_row_is_the_one_of_the_whole() -> None:
    found = _batch(lambda r: tf.reduce_sum(r, 1) / tf.cast(r.row_lengths(), tf.float32), EMPTY)
    assert (found.rows, found.size) == ((1,), 4)


def test_what_all_turns_of_a_loop_share_is_known_in_each() -> None:
    found = _batch(lambda r: tf.math.log(r), RAGGED, turns=3)
    assert (found.rows, found.size) == ((2,), 4)


def test_its_row_is_shown_with_what_came_beside_it() -> None:
    labels = tf.constant([1.0, 2.0, 3.0, 4.0])
    run = _watched(lambda r: tf.math.log(tf.reduce_min(r, axis=1) * labels), RAGGED)
    origin = OriginSearch(run).first()
    assert origin is not None
    rows = {part.name: part.row(2).tolist() for part in components(run, origin.batch)}
    assert rows == {"r/flat_values": [4.0, 0.0], "labels": 3.0}


def test_a_vector_is_a_batch_of_numbers() -> None:
    found = _batch(lambda x: tf.math.log(x), tf.constant([1.0, 2.0, 0.0]))
    assert (found.rows, found.size, found.stored) == ((2,), 3, False)


def test_only_what_is_wanted_is_looked_for() -> None:
    sparse, other = SPARSE, RAGGED
    found = composites_at_hand({tensor_id(sparse.indices)})
    assert list(found) == [tensor_id(sparse.indices)] and found[tensor_id(sparse.indices)].name == "sparse"
    assert other is RAGGED and set(found[tensor_id(sparse.indices)].parts) == {"values", "indices", "shape"}


def test_names_that_stand_for_something_else_are_left_alone() -> None:
    part = tf.constant(np.ones(2))
    assert list(Composite("r", {"flat_values": part}).names_beside({"r/flat_values"})) == ["r_1/flat_values"]


def test_labels_that_came_out_of_the_same_iterator_are_shown_beside_it() -> None:
    data = tf.data.Dataset.from_tensor_slices((RAGGED, [1.0, 2.0, 3.0, 4.0])).batch(4)

    def step(batches: Any) -> None:
        rows, labels = next(iter(batches))
        tf.math.log(tf.reduce_min(rows, axis=1) * labels)

    run = _watched(step, data)
    origin = OriginSearch(run).first()
    assert origin is not None
    assert [part.row(2).tolist() for part in components(run, origin.batch)] == [[4.0, 0.0], 3.0]
