"""Of a value that came from outside: the op that computes with it first, whose line is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.made_run import NAN, made_run, op
from support.prompt import json_of, text_of

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import CallArgument, RunKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame

SCALE = op("scale", "Placeholder", value=[NAN])
LINES = {"call": 18, "while": 18, "while/body/mul": 13, "while/body/cond/true/add": 11, "step/mul": 13}


def _run(*ops: object) -> Run:
    run = made_run(SCALE, *ops)  # type: ignore[arg-type]
    argument = CallArgument("scale", "float32", (1,), captured=True)
    call = replace(run.call, kind=RunKind.FUNCTION, arguments=(argument,))
    tracebacks = {name: (Frame("train.py", line, "call", ""),) for name, line in LINES.items()}
    return replace(run, call=call, tracebacks=tracebacks)


def _reader(run: Run) -> str:
    origin = OriginSearch(run).first()
    assert origin is not None and str(origin.name) == "scale:0" and origin.read_by is not None
    return origin.read_by.name


def test_what_is_handed_to_a_called_function_is_read_by_the_op_in_it() -> None:
    """A blind test: a NaN that a Keras model captured was read at the line of `model.fit`, and by the call there."""
    run = _run(op("call", "StatefulPartitionedCall", "scale"), op("step/mul", "Mul", "scale", value=[NAN]))
    assert _reader(run) == "step/mul"
    assert json_of("origin", run)["line"] == 13
    assert "Read at   train.py:13 in call: step/mul, which is given it" in text_of("origin", run)


@pytest.mark.parametrize("loop", ["While", "StatelessWhile"])
def test_what_is_handed_to_a_loop_is_read_by_the_op_in_its_body_that_ran(loop: str) -> None:
    run = _run(
        op("while", loop, "scale"),
        op("while/body/cond/true/add", "AddV2", "scale"),
        op("while/body/mul", "Mul", "scale", value=[NAN]),
    )
    assert _reader(run) == "while/body/mul", "the branch with the addition was not taken"


def test_where_no_op_inside_is_known_the_call_is_named() -> None:
    assert _reader(_run(op("call", "StatefulPartitionedCall", "scale"))) == "call"
    run = _run(op("call", "StatefulPartitionedCall", "scale"), op("step/mul", "Mul", "scale"))
    assert _reader(run) == "step/mul", "an op that was not captured, too"
