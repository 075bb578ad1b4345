"""What the program calls the results of a function, of whatever shape it returns them."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf
from support.prompt import Prompt

from tfdbg_cli.analysis.scalar_results import scalar_results
from tfdbg_cli.capture.runs.function import traced_function
from tfdbg_cli.model.decision import DebugRun

pytestmark = pytest.mark.tf
Step = collections.namedtuple("Step", "loss accuracy")


def _as_dict(x: Any) -> Any:
    return {"loss": x, "accuracy": x + 1, "b c": x + 2}


def _nested(x: Any) -> Any:
    return {"z": [x, (x + 1, None)], "a": Step(x + 2, {"q": x + 3})}, x + 4, 7.0


def _optional(x: Any) -> Any:
    return x, tf.experimental.Optional.from_value({"loss": x + 1, "accuracy": Step(x + 2, x + 3)})


def _branches(x: Any) -> Any:
    def packed(by: float) -> Callable[[], Any]:
        return lambda: tf.experimental.Optional.from_value({"loss": x * by, "accuracy": x + by})

    return tf.cond(x > 0, packed(2.0), packed(3.0))


def _sparse(x: Any) -> Any:
    return {"s": tf.sparse.from_dense([x, x]), "loss": x + 1}


class _Loss(tf.experimental.ExtensionType):  # type: ignore[misc]
    loss: tf.Tensor


class _Losses(tf.experimental.ExtensionType):  # type: ignore[misc]
    scale: float
    loss: tf.Tensor
    inner: _Loss


def _extended(x: Any) -> Any:
    return _Losses(2.0, x + 1, _Loss(x + 2)), tf.identity(x)


@pytest.mark.parametrize(
    ("body", "known"),
    [
        pytest.param(lambda x: x * 2, {"": 6.0}, id="alone"),
        pytest.param(lambda x: (x, x * 2, x), {"[0]": 3.0, "[1]": 6.0, "[2]": 3.0}, id="tuple"),
        pytest.param(_as_dict, {"loss": 3.0, "accuracy": 4.0, "['b c']": 5.0}, id="dict"),
        pytest.param(
            _nested,
            {"[0].z[0]": 3.0, "[0].z[1][0]": 4.0, "[0].a.loss": 5.0, "[0].a.accuracy.q": 6.0, "[1]": 7.0, "[2]": 7.0},
            id="nested",
        ),
        pytest.param(
            _optional,
            {"x": 3.0, "[1].loss": 4.0, "[1].accuracy.loss": 5.0, "[1].accuracy.accuracy": 6.0},
            id="optional",
        ),
        pytest.param(_branches, {"loss": 6.0, "accuracy": 5.0}, id="optional of a branch"),
        pytest.param(_sparse, {"loss": 4.0}, id="sparse"),
        pytest.param(_extended, {"[0].loss": 4.0, "[0].inner.loss": 5.0, "[1]": 3.0}, id="extension types"),
    ],
)
def test_each_result_has_the_name_by_which_one_takes_it(body: Any, known: dict[str, float], watched: Any) -> None:
    with watched(DebugRun()) as front:
        tf.function(body)(tf.constant(3.0))
    [end] = front.ends
    assert {result.name: result.value for result in scalar_results(end.run)} == known


def test_a_type_of_the_programs_own_that_fails_leaves_the_results_without_names(
    watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise ValueError("not flattened")

    monkeypatch.setattr(traced_function, "results_among", refuse)
    with watched(DebugRun()) as front:
        assert tf.function(_as_dict)(tf.constant(3.0))["loss"].numpy() == 3.0
    [end] = front.ends
    assert [(result.name, result.value) for result in scalar_results(end.run)] == [("", 4.0), ("", 5.0), ("", 3.0)]


@pytest.mark.parametrize("taped", [False, True])
def test_a_tape_takes_no_name_and_its_own_tensors_are_no_results(taped: bool, watched: Any) -> None:
    """A blind test: they were `[0]` to `[7]`, and the list of runs had what the gradient needs beside the loss."""

    def parted(x: Any) -> Any:
        y = tf.exp(x * 2.0)
        return {"loss": tf.reduce_sum(y), "parts": (tf.reduce_max(y), y)}

    def alone(x: Any) -> Any:
        loss = tf.reduce_prod(tf.exp(x)) * 2.0
        return loss

    x = tf.constant([0.0])
    with watched(DebugRun(), DebugRun(), DebugRun()) as front:
        for body in (parted, alone, lambda x: tf.reduce_sum(tf.exp(x))):
            with tf.GradientTape() as tape:
                tape.watch([x] if taped else [])
                tf.function(body)(x)
    calls = [end.run.call for end in front.ends]
    named = [dict(zip(call.results, call.names_of_fetches, strict=False)) for call in calls]
    assert [list(names.values()) for names in named] == [["loss", "parts[0]", "parts[1]"], ["loss"], [""]]
    assert [len(scalar_results(end.run)) for end in front.ends] == [3, 1, 1]
    for end, call in zip(front.ends, calls, strict=True):
        assert bool(call.for_gradient) == taped
        assert not any(call.names_of_fetches[len(call.results) :])
        shown = Prompt(end).show("ri")
        assert f"Returns ({len(call.results)})" in shown
        assert ("for its gradient alone" in shown) == taped
