"""What TensorFlow says of the results of a function, taken apart."""

from __future__ import annotations

import collections
from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.capture.tf.compat import AtomicFunction
from tfdbg_cli.capture.tf.trace_types import for_program, parts_of

pytestmark = pytest.mark.tf
Pair = collections.namedtuple("Pair", "loss accuracy")


@pytest.mark.parametrize(
    ("result", "keys"),
    [
        pytest.param(lambda x: {"b": x, "a": x}, ["a", "b"], id="dict"),
        pytest.param(lambda x: [x, x], [0, 1], id="list"),
        pytest.param(lambda x: (x, None), [0, 1], id="tuple"),
        pytest.param(lambda x: Pair(x, x), ["loss", "accuracy"], id="namedtuple"),
        pytest.param(lambda x: x, None, id="tensor"),
        pytest.param(lambda x: tf.sparse.from_dense(x), None, id="sparse"),
    ],
)
def test_the_keys_of_what_a_function_returns(result: Any, keys: list[Any] | None) -> None:
    concrete = tf.function(result).get_concrete_function(tf.TensorSpec([2]))
    parts = parts_of(concrete.function_type.output)
    assert (None if parts is None else [key for key, _ in parts]) == keys


def test_structures_of_specs_are_taken_apart_alike() -> None:
    class Own(tuple[int, ...]):
        __match_args__ = ("one",)

    assert list(parts_of({"b": 1, "a": 2}) or ()) == [("a", 2), ("b", 1)]
    assert list(parts_of(Pair(1, 2)) or ()) == [("loss", 1), ("accuracy", 2)]
    assert list(parts_of(Own((5, 6))) or ()) == [(0, 5), (1, 6)]


def test_what_the_program_gets_from_a_function_that_a_tape_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    called, plain = [], AtomicFunction.call_flat

    def noted(atomic: Any, *inputs: Any) -> Any:
        called.append(for_program(atomic))
        return plain(atomic, *inputs)

    monkeypatch.setattr(AtomicFunction, "call_flat", noted)
    step = tf.function(lambda x: {"b": [tf.exp(x), None], "a": tf.sparse.from_dense(tf.exp(x))})
    x = tf.constant([1.0, 0.0])
    step(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        step(x)
    first, second = called
    assert (first.count, second.count) == (None, 4)
    for given in called:
        assert [key for key, _ in parts_of(given.kind) or ()] == ["a", "b"]
