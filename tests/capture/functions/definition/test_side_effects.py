"""What stateful ops have to do with the world outside of a run."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.definition.effects import SideEffect, side_effect_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.what_if.effects import RerunEffect, effect_of

pytestmark = pytest.mark.tf
NAMES = [name for name in dir(tf.raw_ops) if not name.startswith("_") and compat.op_definition(name) is not None]


def test_only_stateful_ops_and_calls_of_python_have_to_do_with_the_world_outside() -> None:
    outside = {SideEffect.SOURCE, SideEffect.EFFECT}
    found = [name for name in NAMES if side_effect_of(name) in outside and not compat.op_definition(name).is_stateful]
    assert found == ["PyFuncStateless"]


@pytest.mark.parametrize(
    ("op_type", "side_effect", "effect"),
    [
        ("MatMul", SideEffect.NOTHING, RerunEffect.NONE),
        ("ReadVariableOp", SideEffect.READ, RerunEffect.READ),
        ("ResourceApplyAdam", SideEffect.WRITE, RerunEffect.WRITE),
        ("StatefulUniform", SideEffect.WRITE, RerunEffect.DRAW_FROM_VARIABLE),
        ("RandomUniform", SideEffect.SOURCE, RerunEffect.DRAW),
        ("IteratorGetNext", SideEffect.SOURCE, RerunEffect.DRAW),
        ("EagerPyFunc", SideEffect.SOURCE, RerunEffect.DRAW),
        ("PrintV2", SideEffect.EFFECT, RerunEffect.WRITE),
        ("TensorArrayWriteV3", SideEffect.NOTHING, RerunEffect.NONE),
        ("CheckNumerics", SideEffect.NOTHING, RerunEffect.NONE),
        ("StatelessWhile", SideEffect.CALL, RerunEffect.NONE),
        ("VarHandleOp", SideEffect.SOURCE, RerunEffect.NONE),
        ("AssignAdd", SideEffect.NOTHING, RerunEffect.WRITE),
    ],
)
def test_what_an_op_has_to_do_with_it(op_type: str, side_effect: SideEffect, effect: RerunEffect) -> None:
    assert (side_effect_of(op_type), effect_of(op_type)) == (side_effect, effect)
