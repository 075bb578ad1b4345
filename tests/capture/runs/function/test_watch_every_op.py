"""The answer of the watch for every op type of TensorFlow that could be run by itself, in each dtype it has.

op_cases.jsonl holds them, a line each: the inputs (floats by `shape`; others by `value`, or all `true`) and the
attributes (`type` "" is that of the floats). They were found by calling each op of tf.raw_ops that is not stateful on
inputs of a few shapes. Left out are those that raise, or abort the process, when they are given a NaN or an infinity,
and those whose result for these inputs is not finite or changes from call to call.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.watched_graphs import Both

pytestmark = pytest.mark.tf

_BAD = (np.nan, np.inf, -np.inf)
_TOGETHER = 8  # ops in one function: more, and each run is one of many ops; fewer, and rewriting takes longer


@dataclass(frozen=True)
class OpCase:
    """An op with inputs that it takes, its floats of one dtype: the one numbered `turn`, from 0, of those it has."""

    op: str
    inputs: dict[str, dict[str, Any]]
    attributes: dict[str, Any]
    dtype: tf.DType
    turn: int

    @property
    def floats(self) -> list[Any]:
        """The shapes of the inputs that something can be planted in."""
        return [given["shape"] for given in self.inputs.values() if "shape" in given for _ in range(_count(given))]

    def outputs(self, floats: Iterator[Any]) -> list[Any]:
        """What the op gives for `floats`."""
        inputs = {}
        for name, given in self.inputs.items():
            values = [next(floats) if "shape" in given else _constant(given) for _ in range(_count(given))]
            inputs[name] = values if "count" in given else values[0]
        attributes = {
            name: tf.as_dtype(value["type"] or self.dtype) if isinstance(value, dict) else value
            for name, value in self.attributes.items()
        }
        found = getattr(tf.raw_ops, self.op)(**inputs, **attributes)
        return [tensor for tensor in tf.nest.flatten(found) if tensor.dtype not in (tf.variant, tf.resource)]


def _count(given: dict[str, Any]) -> int:
    return int(given.get("count", 1))


def _constant(given: dict[str, Any]) -> Any:
    return tf.fill(given["true"], True) if "true" in given else tf.constant(given["value"], given["dtype"])


def _cases() -> list[OpCase]:
    rows = [json.loads(row) for row in Path(__file__).with_name("op_cases.jsonl").read_text().splitlines()]
    return [
        OpCase(row["op"], row["inputs"], row.get("attributes", {}), tf.as_dtype(dtype), turn)
        for row in rows
        for turn, dtype in enumerate(row["dtypes"])
    ]


_CASES = _cases()


def _agree(cases: Sequence[OpCase], *, sparing: bool = False) -> None:
    """Plant in each input of each of `cases`, side by side in one function; look at every tensor, and compare.

    If `sparing`, all that is bad is planted in the first dtype of an op alone, and in others one of it in turn.
    """

    def together(*floats: Any) -> list[Any]:
        given = iter(floats)
        outputs = [output for case in cases for output in case.outputs(given)]
        # A comparison hides what is wrong with what it is given, so that it shows in no output.
        return [tf.equal(output, output) if output.dtype.is_floating else output for output in outputs]

    random = np.random.default_rng(0)
    shapes = [(shape, case.dtype) for case in cases for shape in case.floats]
    healthy = [tf.cast(tf.constant(random.uniform(0.2, 0.9, shape)), dtype) for shape, dtype in shapes]
    concrete = tf.function(together, autograph=False).get_concrete_function(
        *(tf.TensorSpec(shape, dtype) for shape, dtype in shapes)
    )
    both = Both(concrete)
    hit, found = both.agree(healthy)
    assert not hit, found
    firsts = [not case.turn for case in cases for _ in case.floats]
    for at, value in enumerate(healthy):
        for bad in _BAD if firsts[at] or not sparing else (_BAD[at % len(_BAD)],):
            array = np.array(value.numpy())
            array.reshape(-1)[array.size // 2] = bad
            hit, _ = both.agree([*healthy[:at], tf.constant(array, value.dtype), *healthy[at + 1 :]])
            assert hit


def test_there_are_hundreds_of_configurations() -> None:
    assert len(_CASES) >= 1000
    assert len({case.op for case in _CASES}) >= 250


def _batches(cases: Sequence[OpCase]) -> list[Any]:
    groups = [cases[at : at + _TOGETHER] for at in range(0, len(cases), _TOGETHER)]
    return [pytest.param(group, id=f"{group[0].op}..{group[-1].op}") for group in groups]


def _in_turn(cases: Sequence[OpCase]) -> list[OpCase]:
    """Each configuration of an op in its first dtype and in one of the others, these in turn."""
    chosen: list[OpCase] = []
    alike = itertools.groupby(cases, lambda case: (case.op, case.inputs, case.attributes))
    for turn, (_, group) in enumerate(alike):
        first, *others = group
        chosen += [first, *(others[turn % len(others)],)] if others else [first]
    return chosen


def test_each_op_and_each_dtype_is_among_the_quick_ones() -> None:
    quick = _in_turn(_CASES)
    assert {case.op for case in quick} == {case.op for case in _CASES}
    assert {case.dtype for case in quick} == {case.dtype for case in _CASES}


@pytest.mark.parametrize("cases", _batches(_in_turn(_CASES)))
def test_each_op_in_some_dtypes(cases: Sequence[OpCase]) -> None:
    _agree(cases, sparing=True)


@pytest.mark.slow
@pytest.mark.parametrize("cases", _batches(_CASES))
def test_each_op_in_each_dtype(cases: Sequence[OpCase]) -> None:
    _agree(cases)
