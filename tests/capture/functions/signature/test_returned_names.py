"""What a function calls what it returns, read from its source."""

from __future__ import annotations

from functools import partial, wraps
from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.analysis.scalar_results import scalar_results
from tfdbg_cli.capture.functions.signature.returned_names import as_returned
from tfdbg_cli.model.decision import DebugRun

pytestmark = pytest.mark.tf


def _alone(x: Any) -> Any:
    loss = x * 2

    def inner() -> Any:
        other = x
        return other

    return loss


def _pair(x: Any, by: float = 1.0) -> Any:
    with tf.name_scope("a"):
        loss = x * by
        return loss, [loss, x], x + 1


def _differs(x: Any) -> Any:
    if x is None:
        other = 1
        return other
    loss = x * 2
    return loss


def _wrapped(function: Any) -> Any:
    @wraps(function)
    def around(*given: Any) -> Any:
        result = function(*given)
        return result

    return around


class Model:
    """One with a step as a method."""

    @tf.function
    def step(self, x: Any) -> Any:
        loss = x
        return loss


NAMES = ("", "[0]", "[1][0]", "[2]", "logs.loss")


@pytest.mark.parametrize(
    ("function", "known"),
    [
        (_alone, ("loss", "loss[0]", "loss[1][0]", "loss[2]", "logs.loss")),
        (_pair, ("", "loss", "[1][0]", "[2]", "logs.loss")),
        (partial(_pair, by=2.0), ("", "loss", "[1][0]", "[2]", "logs.loss")),
        (_wrapped(_pair), ("", "loss", "[1][0]", "[2]", "logs.loss")),
        (_differs, NAMES),
        (lambda x: x, NAMES),
        (len, NAMES),
        (eval("lambda x: x"), NAMES),
        (Model().step, ("loss", "loss[0]", "loss[1][0]", "loss[2]", "logs.loss")),
    ],
)
def test_names_are_those_of_the_one_return(function: Any, known: tuple[str, ...]) -> None:
    assert as_returned(NAMES, function) == known


def test_a_loss_that_is_returned_alone_has_its_name(watched: Any) -> None:
    """A blind test: `history loss` said that there is no such tensor, where `return loss` gave it."""
    with watched(DebugRun(), DebugRun()) as front:
        tf.function(_alone)(tf.constant(3.0))
        tf.function(_pair)(tf.constant(3.0))
    alone, pair = front.ends
    assert [(one.name, one.value) for one in scalar_results(alone.run)] == [("loss", 6.0)]
    assert [(one.name, one.value) for one in scalar_results(pair.run)] == [
        ("loss", 3.0),
        ("[1][0]", 3.0),
        ("x", 3.0),
        ("[2]", 4.0),
    ]
