"""Of a lost value that spoiled nothing nobody says that it may have begun there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.made_run import NAN, Op, made_run, op

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.tensors import MemoryTensorStore, gone

_LOST = gone("It is gone.")
_X, _SQRT = op("x", "Placeholder", value=[-1.0]), op("sqrt", "Sqrt", "x", value=[NAN])


_BEST = op("best", "ReadVariableOp", value=_LOST)


def _read(*readers: Op) -> list[Op]:
    return [_X, _BEST, *readers, _SQRT]


@pytest.mark.parametrize(
    ("ops", "count"),
    [
        pytest.param(_read(op("least", "Minimum", "x", "best", value=[-1.0])), 0, id="what reads it is fine"),
        pytest.param(_read(), 1, id="nothing reads it"),
        pytest.param(_read(op("least", "Minimum", "x", "best", value=_LOST)), 2, id="what reads it is lost"),
        pytest.param(
            _read(op("least", "Minimum", "x", "best", value=_LOST), op("sum", "Sum", "least", value=-1.0)),
            0,
            id="what reads what reads it is fine",
        ),
        pytest.param(
            _read(op("least", "Minimum", "x", "best", value=[-1.0]), op("write", "AssignVariableOp", "v", "best")),
            1,
            id="it is written to a variable",
        ),
        pytest.param([_X, _BEST, op("log", "Log", "best", value=[NAN])], 1, id="the origin reads it"),
        pytest.param(
            [_X, _BEST, op("relu", "Relu", "best", value=[0.0]), op("log", "Log", "relu", value=[NAN])],
            1,
            id="it may have been infinite",
        ),
    ],
)
def test_lost_values_that_may_have_been_bad(ops: list[Op], count: int) -> None:
    """A blind test: `best.assign(tf.minimum(best, loss))` stood in doubt of another variable's square root."""
    run = made_run(*ops)
    tensors = [replace(run.tensors[row], dtype="float32") for row in range(len(run.tensors))]
    store = MemoryTensorStore(tensors, [run.tensors.value(row) for row in range(len(tensors))])
    search = OriginSearch(replace(run, tensors=store))
    origin = search.first()
    assert origin is not None
    assert search.unread_before(origin) == count
