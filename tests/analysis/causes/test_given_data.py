"""Data that came in not finite: columns are named where they are to blame, and rows else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.batch.batch_roles import BatchRole
from tfdbg_cli.analysis.causes.given_data import Came, GivenData
from tfdbg_cli.analysis.causes.sources_of_values import cause_at_source, cause_of_feed
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.batch_place import BatchPlace, Order
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName


def _bad(shape: tuple[int, ...], *where: object) -> GivenData:
    bad = np.zeros(shape, np.bool_)
    for each in where:
        bad[each] = True
    return GivenData(bad)


def test_a_column_is_named() -> None:
    given = _bad((128, 4), np.s_[10:126, 2])
    assert given.columns == (2,)
    assert given.where == ", all in column 2 of 4 (116 of 128 rows)"
    assert given.helps.startswith("Fill column 2 (np.nan_to_num") and "would take 116 of 128" in given.helps


def test_a_column_without_any_number_was_computed_so() -> None:
    """What is missing is missing in some rows; nobody fills a whole column, or leaves out every row."""
    given = _bad((16, 4), np.s_[:, 1])
    assert given.helps.startswith("Mend what computes column 1, or leave it out") and "deviation" in given.helps
    assert _bad((16, 5, 4), np.s_[:, :, 1]).helps.startswith("Mend what computes feature 1")
    assert _bad((16, 5, 4), np.s_[:, 2, 1]).helps.startswith("Fill feature 1")


def test_what_holds_nothing_finite_was_computed_so() -> None:
    """Advantages divided by a deviation of 0: to leave rows out would leave nothing."""
    for shape in ((18,), (18, 4)):
        helps = _bad(shape, np.s_[:]).helps
        assert "no row is to blame" in helps and "deviation" in helps and "leave" not in helps
    assert not _bad((2,), np.s_[:]).helps, "both rows may be missing"
    assert not _bad((18,), np.s_[1:]).helps


def test_columns_of_steps_are_features() -> None:
    given = _bad((16, 5, 8), np.s_[::2, :, 1], np.s_[::3, 2, 5])
    assert given.where == ", all in features 1, 5 of 8 (11 of 16 rows)"
    assert "leave them out" in given.helps


def test_what_is_confined_to_another_axis_than_the_last_is_told() -> None:
    """A blind test: of 26 detectors one was broken, in every row, and the advice was to filter rows out."""
    given = _bad((64, 12, 26, 1), np.s_[:, :, 11])
    assert given.where == ", all at index 11 of axis 2 (64 of 64 rows)"
    assert given.helps.startswith("Mend what computes index 11 of axis 2, or leave it out of the data")
    given = _bad((64, 12, 26), np.s_[:, :, 3], np.s_[::2, 4, 20])
    assert given.where == ", all in features 3, 20 of 26 (64 of 64 rows)", "columns come first"
    given = _bad((64, 12, 26), np.s_[:30, 2, :], np.s_[10:, 7, 3])
    assert given.where == ", all at indices 2, 7 of axis 1 (64 of 64 rows)"
    assert given.helps.startswith("Fill indices 2, 7 of axis 1") and "would take 64 of 64" in given.helps


def test_a_few_rows_with_a_place_in_common_are_not_confined_to_an_axis() -> None:
    assert not _bad((64, 28, 28, 1), (7, 3, 4), (9, 3, 5), (11, 6, 6), (12, 3, 1)).where, "as by chance"
    assert not _bad((64, 28, 28, 1), (7, 3, 4), (9, 3, 5)).where
    assert not _bad((64, 28, 28, 1), np.s_[3:9]).where, "whole pictures"
    assert not _bad((), ()).where


def test_rows_are_not_called_columns() -> None:
    assert not _bad((128, 4), 7).columns, "a whole row"
    assert not _bad((128, 4), (7, 2), (9, 2)).columns, "two rows may be chance"
    assert not _bad((128, 4), (7, 0), (8, 1), (9, 2), (10, 3)).columns, "everywhere"
    assert not _bad((128,), np.s_[:50]).columns, "no columns"
    assert not _bad((0, 4)).columns


def test_arrays_are_no_data_set() -> None:
    """`fit(x, y)` has no dataset to filter."""
    bad = np.zeros((8, 4), np.bool_)
    bad[3, 1] = True
    node = Node("next", "IteratorGetNext", "")
    given = GivenData(bad, BatchRole.TARGETS, arrays="the arrays that fit was given")
    lineage = Lineage(made_run(op("next", "IteratorGetNext", value=[1.0])))
    told = cause_at_source(node, (), lineage, lambda _: False, given)
    assert told is not None
    assert told.text == "Already in the targets (y) of the arrays that fit was given."
    assert told.suggestion.startswith("Check them before: np.isfinite(y).all()")
    of_pipeline = cause_at_source(node, (), lineage, lambda _: False, GivenData(bad, BatchRole.TARGETS))
    assert of_pipeline is not None
    assert "dataset.filter(lambda x, y, *_: tf.reduce_all(tf.math.is_finite(y)))" in of_pipeline.suggestion


@pytest.mark.parametrize(
    ("order", "came_from"),
    [(Order.ARRAYS, "the arrays that fit was given"), (Order.PIPELINE, "the data that the input pipeline delivered")],
)
def test_what_a_loop_of_keras_hands_to_its_step_is_of_its_data(order: Order, came_from: str) -> None:
    """Keras 3.16 gives the function of a step the batch; what the program gives to a function is its input."""
    data = np.float32([[1.0, 2.0], [np.nan, 1.0], [2.0, 0.0]])
    names = ("data", "kernel")
    run = made_run(op("data", "Placeholder"), op("kernel", "VarHandleOp"), op("product", "MatMul", *names))
    feeds = {"data": data}

    def cause(place: BatchPlace) -> str:
        call = replace(run.call, kind=RunKind.FUNCTION, feeds=feeds, came={"data": place})
        found = OriginSearch(replace(run, call=call)).first()
        assert found is not None and found.cause is not None
        return found.cause.text

    assert cause(BatchPlace(0, order, loop="fit")) == f"Already in {came_from}."
    assert cause(BatchPlace(0)) == "Already in the input data:0."


def test_a_queue_is_no_data_set() -> None:
    node = Node("next", "QueueDequeueManyV2", "")
    lineage = Lineage(made_run(op("next", "QueueDequeueManyV2", value=[1.0])))
    given = GivenData(np.ones((8, 4), np.bool_)[:2], came=Came.QUEUED)
    told = cause_at_source(node, (), lineage, lambda _: False, given)
    assert told is not None and told.text == "Already in the data that came out of a queue."
    assert "dataset.filter" not in told.suggestion and "enqueue" in told.suggestion


def test_what_is_said_of_a_feed() -> None:
    name = TensorName("data", 1)
    carried = cause_of_feed(name, GivenData(np.ones((2, 2), np.bool_), run=6))
    assert carried.text == f"Already in {name}, which run #6 computed."
    assert "np.isfinite" not in carried.suggestion, "it is no data"
    told = cause_of_feed(name, GivenData(np.ones((2, 2), np.bool_), BatchRole.TARGETS))
    assert told.text == "Already in the targets (y), data:1."
    assert "np.isfinite" in told.suggestion
    assert cause_of_feed(name, _bad((8, 4), np.s_[:, 1])).text == (
        "Already in the input data:1, all in column 1 of 4 (8 of 8 rows)."
    )
