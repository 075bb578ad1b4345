"""What is known of tensors before a run: what may be folded, and what may be the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.ops.facts import ANYTHING, Facts
from tfdbg_cli.ops.folding import UNREAD, Constant, constant_of
from tfdbg_cli.ops.op_view import TensorKind


@dataclass
class Op:
    """An op as a graph might show it."""

    op_type: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    is_stateful: bool = False
    calls_functions: bool = False
    array: Any = None
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def inputs_are(self) -> Sequence[TensorKind]:
        return [TensorKind("float32", (2,)) for _ in self.inputs]

    @property
    def outputs_are(self) -> Sequence[TensorKind]:
        return [TensorKind("float32", None) for _ in self.outputs]

    def attribute(self, name: str) -> Any:
        return self.attributes.get(name)


X = Op("Placeholder", [], ["x:0"], is_stateful=True)
TWO = Op("Const", [], ["two:0"], array=np.array([2.0, -3.0], "f"))


def _told(*ops: Op, merging: bool = True, **given: Any) -> Facts[str]:
    facts: Facts[str] = Facts(**given, merging=merging)
    for op in ops:
        facts.learn(op)
    return facts


@pytest.mark.parametrize("merging", [True, False])
def test_constants_are_followed_through_what_the_optimizer_folds(merging):
    facts = _told(
        X,
        TWO,
        Op("Exp", ["two:0"], ["exp:0"]),
        Op("Mul", ["x:0", "exp:0"], ["mul:0"]),
        Op("Identity", ["two:0"], ["same:0"]),
        merging=merging,
    )
    assert facts.constant("two:0") == Constant(2.0, 3.0)
    assert facts.constant("same:0") == Constant(2.0, 3.0)
    assert facts.constant("exp:0") == UNREAD
    assert facts.constant("x:0") is None
    assert facts.constant("mul:0") == UNREAD  # exp may be zero, for all that is read of it


def test_a_stateful_op_is_no_constant():
    facts = _told(TWO, Op("Print", ["two:0"], ["printed:0"], is_stateful=True))
    assert facts.constant("printed:0") is None


def test_what_a_call_gives_may_be_a_constant_and_the_same_as_anything():
    facts = _told(X, Op("PartitionedCall", ["x:0"], ["call:0", "call:1"], calls_functions=True))
    assert facts.constant("call:0") == facts.constant("call:1") == UNREAD
    assert facts.source("call:0") == facts.source("x:0")
    assert facts.source("call:1") is ANYTHING


def test_equal_ops_may_be_merged():
    facts = _told(X, Op("Exp", ["x:0"], ["a:0"]), Op("Exp", ["x:0"], ["b:0"]), Op("Log", ["x:0"], ["c:0"]))
    assert facts.source("a:0") == facts.source("b:0")
    assert facts.source("a:0") != facts.source("c:0")


def test_what_may_do_nothing_gives_what_it_reads():
    facts = _told(X, Op("Cast", ["x:0"], ["cast:0"]), Op("Reshape", ["cast:0", "x:0"], ["shaped:0"]))
    assert facts.source("shaped:0") == facts.source("x:0") == "x:0"


def test_where_a_proof_holds_it_only_copies_are_the_same():
    facts = _told(
        X,
        Op("Identity", ["x:0"], ["copy:0"]),
        Op("Cast", ["x:0"], ["cast:0"]),
        Op("Exp", ["x:0"], ["a:0"]),
        Op("Exp", ["x:0"], ["b:0"]),
        merging=False,
    )
    assert facts.source("copy:0") == "x:0"
    assert facts.source("cast:0") == "cast:0"
    assert facts.source("a:0") != facts.source("b:0")


def test_of_what_nothing_was_told_anything_may_be_the_same():
    assert _told().source("unknown:0") is ANYTHING
    assert _told(merging=False).source("unknown:0") == "unknown:0"


def test_what_is_given_from_outside_is_not_what_its_op_gives():
    facts = _told(
        TWO,
        Op("Exp", ["two:0"], ["exp:0"]),
        constants={"two:0": None},
        sources={"two:0": "fed"},
    )
    assert facts.constant("two:0") is None
    assert facts.constant("exp:0") is None
    assert facts.source("two:0") == "fed"


def test_what_is_folded_elsewhere_can_be_told():
    facts = _told(X)
    facts.know_folded("x:0")
    assert facts.constant("x:0") == UNREAD


def test_an_op_is_shown_with_all_that_is_known_of_its_tensors():
    facts = _told(X, TWO)
    use = facts.use(Op("Mul", ["x:0", "two:0"], ["mul:0"], attributes={"T": 1}))
    assert use.op_type == "Mul"
    assert [operand.constant for operand in use.inputs] == [None, Constant(2.0, 3.0)]
    assert [operand.shape for operand in (*use.inputs, use.output(0))] == [(2,), (2,), None]
    assert [operand.source for operand in use.inputs] == ["x:0", "Const"]
    assert use.attribute("T") == 1


@pytest.mark.parametrize("count", [1, 64, 65])
def test_constants_of_the_same_bytes_are_told_apart_by_their_types(count: int) -> None:
    """Of small ones equal ones are looked at once."""
    ones = np.full(count, 1.0, np.float32)
    assert constant_of(ones) == Constant(1.0, 1.0)
    assert constant_of(ones.view(np.int32)) == Constant(float(0x3F800000), float(0x3F800000))
    assert constant_of(-2 * ones) == Constant(2.0, 2.0)


def test_a_small_constant_of_a_type_that_numpy_lacks_is_read() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert constant_of(np.array([0.5, -4.0], ml_dtypes.bfloat16)) == Constant(0.5, 4.0)
