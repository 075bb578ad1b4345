"""What a session fetches, by the names that the program has for it."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import tensorflow as tf

from tfdbg_cli.capture.sessions.call_names import fed, fetched

pytestmark = pytest.mark.tf


class _Outcome(NamedTuple):
    loss: Any
    parts: Any


def _names(make: Any) -> dict[str, str]:
    """By tensor the names in what `make` fetches, given two tensors and an operation, with a comma between them."""
    with tf.Graph().as_default() as graph:
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        found = fetched(graph, make(a, b, tf.no_op()))
    names: dict[str, list[str]] = {}
    for tensor, name in found.results:
        names.setdefault(tensor, []).append(name)
    return {tensor: ", ".join(called) for tensor, called in names.items()}


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda a, b, op: {"loss": a, "train": op, "m": {"top 5": b}}, {"a:0": "loss", "b:0": "m['top 5']"}),
        (lambda a, b, op: {"parts": [a, b]}, {"a:0": "parts[0]", "b:0": "parts[1]"}),
        (lambda a, b, op: _Outcome(a, (op, b)), {"a:0": "loss", "b:0": "parts[1]"}),
        (lambda a, b, op: [op, a, {"loss": b}], {"a:0": "", "b:0": "loss"}),
        (lambda a, b, op: [a, {"one": a, "other": a}, {"one": a}], {"a:0": "one, other"}),
        (lambda a, b, op: {"caller": [a, op], object(): b}, {"a:0": "", "b:0": ""}),
        (lambda a, b, op: {"caller": {"loss": a}, object(): {"step": b}}, {"a:0": "loss", "b:0": "step"}),
        (lambda a, b, op: a, {"a:0": ""}),
        (lambda a, b, op: {"s": tf.SparseTensor([[0]], tf.reshape(a, [1]), [1])}, None),
    ],
)
def test_names_are_those_of_dicts_and_named_tuples(make: Any, names: dict[str, str] | None) -> None:
    """A list gives none, for the node says more than a place in it; nor does a monitored session."""
    found = _names(make)
    assert set(found.values()) == {"s"} if names is None else found == names


def test_a_variable_behind_a_handle_is_fed_by_the_value_that_is_read_of_it() -> None:
    """L-BFGS of DeepXDE feeds variables: "what is fed to dense/kernel:0 has not the shape" of the graph."""
    with tf.Graph().as_default():
        kernel = tf.compat.v1.get_variable("kernel", [2, 3], use_resource=True)
        bias = tf.compat.v1.get_variable("bias", [3], use_resource=False)
        assert list(fed({kernel: 0, bias: 1})) == ["kernel/Read/ReadVariableOp:0", "bias:0"]
