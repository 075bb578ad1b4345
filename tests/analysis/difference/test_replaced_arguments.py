"""A run beside one in which `set` put another value in the place of an argument that eager ops had made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.made_run import made_run, op

from tfdbg_cli.analysis.difference.comparison import compared_runs
from tfdbg_cli.analysis.graph.making.eager_past import with_own_arguments
from tfdbg_cli.model.graph import GIVEN_BY
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Change, Run

X = TensorName("x", 0)


def _run(value: float) -> Run:
    """x, which an eager product made, taken twice and cast."""
    x = np.float32([value, value])
    return made_run(
        op("eager/Mul_0", "Mul", value=np.float32([0.0, 0.0])),
        op("x", "Identity", "eager/Mul_0", value=x, **{GIVEN_BY: "eager/Mul_0:0"}),
        op("twice", "AddV2", "x", "x", value=x + x), op("whole", "Cast", "x", value=x.astype(np.int32)),
    )  # fmt: skip


def _set_to(base: Run, value: float) -> Run:
    made = _run(value)
    return replace(
        made, graph=with_own_arguments(made.graph, [X]), change=Change(base, {X: np.float32([value, value])}, 2)
    )


def test_every_tensor_has_its_like_and_the_argument_is_the_first_to_differ() -> None:
    base = _run(0.0)
    for runs in ((base, _set_to(base, 1.0)), (_set_to(base, 1.0), base), (_set_to(base, 2.0), _set_to(base, 1.0))):
        found = compared_runs(*runs)
        assert found.first is not None
        assert found.runs[0].tensors[found.first.rows[0]].name == X
        assert not found.pairs.only_first and not found.pairs.only_second
        assert len(found.pairs.rows) == 4
    assert base.graph.find("x").op_type == "Identity", "the run itself stays as it is"
