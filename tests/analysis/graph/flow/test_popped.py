"""What the gradient of a loop takes off a stack is what a turn of the loop put there, the last first."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import NAN, made_run, op

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import gone

HANDLE = gone("This is a handle.")


def _loop(pushed: list[float], popped: list[float]) -> Run:
    """A loop of version 1 that puts `pushed` on a stack, and one that takes `popped` off it."""
    return made_run(
        op("stack", "StackV2", value=HANDLE),
        op("into", "Enter", "stack", value=HANDLE),
        op("item", "Sqrt", "x", values=[np.float32(value) for value in pushed]),
        op("push", "StackPushV2", "into", "item"),
        op("out", "Enter", "stack", value=HANDLE),
        op("pop", "StackPopV2", "out", values=[np.float32(value) for value in popped]),
    )


def _taken(run: Run) -> list[int | None]:
    lineage = Lineage(run)
    rows = run.tensors.named("pop")
    return [places[0].tensor.execution if (places := lineage.places(row))[0].tensor else None for row in rows]


def test_the_last_that_was_put_there_comes_first() -> None:
    assert _taken(_loop([1.0, NAN, 3.0], [3.0, NAN, 1.0])) == [2, 1, 0]


def test_equal_values_are_told_apart_by_their_turns() -> None:
    assert _taken(_loop([1.0, 1.0, 3.0, 1.0], [1.0, 3.0, 1.0, 1.0])) == [3, 2, 1, 0]


def test_a_turn_that_put_nothing_there_is_seen_by_the_values() -> None:
    run = _loop([1.0, 2.0, 3.0], [2.0, 1.0])
    assert _taken(run) == [1, 0]


@pytest.mark.parametrize("popped", [[7.0], [1.0]])
def test_what_cannot_be_told_is_not(popped: list[float]) -> None:
    """A value that nobody put there, or one that two turns did, neither of them the last."""
    run = _loop([1.0, 1.0, 3.0], popped)
    assert all(
        item.node is None or item.node.name == "out" for item in Lineage(run).places(run.tensors.named("pop")[0])
    )


def test_the_origin_is_what_was_put_there() -> None:
    found = OriginSearch(_loop([1.0, NAN], [NAN, 1.0])).first()
    assert found is not None and found.name.node == "item"
