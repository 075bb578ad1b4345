"""What is shown of a variable, whose own output is a handle: what was captured of it."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import made_run, op
from support.prompt import ask, json_of, links_of, text_of

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call, CallArgument, RunKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Lack, NoValue

HANDLE = NoValue(Lack.OPAQUE, "This is a handle; it holds no numbers.")
ONES = np.ones((2, 3), np.float32)


def _session() -> Run:
    return made_run(
        op("w", "VarHandleOp", value=HANDLE),
        op("dense/Read", "ReadVariableOp", "w", value=ONES),
        op("call/w", "Identity", "w", value=HANDLE),
        op("call/Gather", "ResourceGather", "call/w", value=ONES[0]),
        op("w/Assign", "AssignSubVariableOp", "w", "dense/Read"),
        op("w/after_update", "UpdatedVariable", "w", value=ONES * 2),
        op("unread", "VarHandleOp", value=HANDLE),
    )


def _function() -> Run:
    run = made_run(
        op("w", "Placeholder"),
        op("MatMul/ReadVariableOp", "ReadVariableOp", "w", value=ONES),
        op("w/after_update", "UpdatedVariable", "w", value=ONES * 2),
    )
    call = Call(
        1, RunKind.FUNCTION, (), {"w": ONES}, function="step", arguments=(CallArgument("w", "float32", (2, 3), True),)
    )
    return Run(call, run.tensors, run.graph)


@pytest.mark.parametrize("name", ["w", "w:0"])
def test_a_handle_leads_to_its_values(name: str) -> None:
    links = links_of(f"pt {name}", _session())
    assert {text: link for text, link in links.items() if link.startswith("pt ")} == {
        "dense/Read:0": "pt dense/Read:0",
        "call/Gather:0": "pt call/Gather:0",
        "w/after_update:0": "pt w/after_update:0",
    }
    assert "after its update" in text_of(f"pt {name}", _session())
    data = json_of(f"pt {name}", _session())
    assert data["kind"] == "variable"
    assert [one["name"] for one in data["captured"]] == ["dense/Read:0", "call/Gather:0", "w/after_update:0"]


@pytest.mark.parametrize("name", ["w", "w:0"])
def test_of_a_function_the_value_before_it_is_among_them(name: str) -> None:
    links = links_of(f"pt {name}", _function())
    assert links["w"] == "pf w"
    assert links["MatMul/ReadVariableOp:0"] == "pt MatMul/ReadVariableOp:0"


@pytest.mark.parametrize("run", [_session(), _function()], ids=["session", "function"])
def test_the_history_of_a_variable_is_that_after_its_updates(run: Run) -> None:
    assert "w/after_update:0 in 1 run" in text_of("history w", run)
    assert "w/after_update:0[0] in 1 run" in text_of("history w[0]", run)


def test_the_history_of_a_variable_that_is_not_updated_yet_is_what_was_read_of_it() -> None:
    turn = made_run(
        op("w", "VarHandleOp"), op("Read_0", "ReadVariableOp", "w", value=ONES), op("Log_0", "Log", value=1.0)
    )
    assert "Read_0:0 in 1 run" in text_of("history w", turn)
    assert "Read_0:0[0] in 1 run" in text_of("history w[0]", turn)
    with pytest.raises(TfdbgError, match="no value of it was captured"):
        ask("history w", made_run(op("w", "VarHandleOp"), op("Log_0", "Log", value=1.0)))


def test_the_history_of_what_has_numbers_is_its_own() -> None:
    assert "dense/Read:0 in 1 run" in text_of("history dense/Read", _session())


def test_of_a_variable_that_nothing_reads_it_is_said_that_it_is_a_handle() -> None:
    assert "This is a handle" in text_of("pt unread", _session())


def test_what_is_no_variable_is_missing_as_ever() -> None:
    with pytest.raises(TfdbgError, match="no value of it was captured"):
        ask("pt w/Assign", _session())
