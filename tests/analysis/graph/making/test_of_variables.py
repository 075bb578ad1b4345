"""What is computed of variables alone is told from what data or random numbers are behind."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.of_variables import is_made_of_variables
from tfdbg_cli.model.calls import CallArgument, RunKind

SCALE = (op("scale", "VarHandleOp"), op("read", "ReadVariableOp", "scale", value=[3.0]))


@pytest.mark.parametrize(
    ("others", "alone"),
    [
        ((op("made", "Reciprocal", "read"),), True),
        ((op("one", "Const", value=1.0), op("made", "AddV2", "read", "one")), True),
        ((op("number", "Placeholder", value=1.0), op("made", "AddV2", "read", "number")), True),
        ((op("data", "Placeholder", value=[1.0, 2.0]), op("made", "Mul", "read", "data")), False),
        ((op("batch", "IteratorGetNext"), op("made", "Mul", "read", "batch")), False),
        ((op("n", "Const", value=1), op("noise", "RandomUniform", "n"), op("made", "Mul", "read", "noise")), False),
        ((op("made", "Const", value=1.0),), False),
        ((op("made", "Mul", "read", "elsewhere"),), False),
    ],
)
def test_what_no_data_is_behind(others: tuple[Op, ...], alone: bool) -> None:
    """A blind test: of 1 / the length scale of a Gaussian process the advice was to normalize the data."""
    run = made_run(*SCALE, *others)
    arguments = tuple(CallArgument(name, "float32", None, captured=True) for name in ("number", "data"))
    run = replace(run, call=replace(run.call, kind=RunKind.FUNCTION, arguments=arguments))
    assert is_made_of_variables(run, run.graph.find("made"), Lineage(run)) is alone


def test_what_is_in_no_graph_is_not_known() -> None:
    run = made_run(*SCALE)
    assert not is_made_of_variables(run, None, Lineage(run))
