"""What belongs to one batch, of what a turn of an eager loop was given several times by one name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.made_run import INF, Op, made_run, op

from tfdbg_cli.analysis.batch.components import components
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import RunKind

X = np.array([[1, 2], [3, 4], [0, 0], [5, 6]], np.float32)
Y = np.array([1, 2, 3, 4], np.float32)
LOG = np.log(X.clip(1e-3), dtype=np.float32)
BAD = np.array([[0, 1], [1, 1], [-INF, -INF], [2, 2]], np.float32)


def _shown(*ops: Op, kind: RunKind = RunKind.EAGER, **given: np.ndarray) -> list[str]:
    """What is shown of the batch behind the origin."""
    inputs = (op(name, "Placeholder") for name in given)
    run = made_run(*inputs, *ops, feeds=given)
    run = replace(run, call=replace(run.call, kind=kind))
    origin = OriginSearch(run).first()
    assert origin is not None and origin.batch.rows == (2,)
    return [part.name for part in components(run, origin.batch)]


def _step(number: str, value: np.ndarray, *, x: str = "x", y: str = "y") -> tuple[Op, ...]:
    """What one batch goes through: a logarithm, whose mean meets the labels."""
    return (
        op(f"log{number}", "Log", f"{x}{number}", value=value),
        op(f"mean{number}", "Max", f"log{number}", "last", value=value.max(1)),
        op(f"loss{number}", "Mul", f"mean{number}", f"{y}{number}", value=value.max(1) * Y),
    )


LAST = op("last", "Const", value=np.array(1, np.int32))
THREE = {"x": X, "y": Y, "x_1": X, "y_1": Y, "x_2": X, "y_2": Y}


def test_of_parts_of_a_batch_whose_gradients_add_up_the_bad_one_is_shown_with_its_labels() -> None:
    assert _shown(LAST, *_step("", LOG), *_step("_1", BAD), *_step("_2", LOG), **THREE) == ["x_1", "y_1"]
    assert _shown(LAST, *_step("", BAD), *_step("_1", LOG), *_step("_2", LOG), **THREE) == ["x", "y"]


def test_what_meets_no_batch_is_of_the_one_that_is_read_next_to_it() -> None:
    """As labels of which only a count is compared; there are fewer of these than batches."""

    def step(number: str, value: np.ndarray) -> tuple[Op, ...]:
        count = op(f"count{number}", "Max", f"y{number}", "first", value=np.array(4, np.float32))
        return op(f"log{number}", "Log", f"x{number}", value=value), count

    first = op("first", "Const", value=np.array(0, np.int32))
    ops = (first, op("noise", "Exp", "x", value=LOG), *step("_1", LOG), *step("_2", BAD))
    given = {"x": X, "x_1": X, "y": Y, "x_2": X, "y_1": Y}
    renamed = [replace(one, inputs=tuple(_FEWER.get(name, name) for name in one.inputs)) for one in ops]
    assert _shown(*renamed, **given) == ["x_2", "y_1"]


_FEWER = {"y_1": "y", "y_2": "y_1"}


def test_two_of_one_name_that_meet_are_of_one_batch() -> None:
    """As the two sides of a network that is called for both: each is the `x` of the function that encodes it."""
    ops = (
        op("log", "Log", "x", value=BAD),
        op("other", "Exp", "x_1", value=LOG),
        op("differ", "Sub", "log", "other", value=BAD),
    )
    assert _shown(*ops, x=X, x_1=X) == ["x", "x_1"]


def test_what_the_program_has_no_name_for_is_all_shown() -> None:
    ops = (op("log", "Log", "input", value=BAD), op("other", "Exp", "input_1", value=LOG))
    assert _shown(*ops, input=X, input_1=X) == ["input", "input_1"]


def test_arguments_of_a_function_are_all_shown_whatever_their_names() -> None:
    ops = (op("log", "Log", "x", value=BAD), op("other", "Exp", "x_1", value=LOG))
    assert _shown(*ops, kind=RunKind.FUNCTION, x=X, x_1=X) == ["x", "x_1"]
