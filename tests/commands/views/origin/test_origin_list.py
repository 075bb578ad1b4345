"""All places where a run went wrong: tensors of several turns of a loop are told apart."""

from __future__ import annotations

from support.made_run import INF, NAN, Op, made_run, op
from support.prompt import json_of, text_of

from tfdbg_cli.model.runs import Run

_MASKED = [-INF, -INF]


def _loop(turns: int, *more: Op) -> Run:
    """In each turn a mask of -inf leaves nothing of a row."""
    return made_run(
        op("while", "While", "x"),
        op("while/body/mask", "Const", values=[_MASKED] * turns),
        op("while/body/softmax", "Softmax", "while/body/mask", values=[[NAN, NAN]] * turns),
        *more,
        order=("while/body/mask", "while/body/softmax") * turns + tuple(one.name for one in more),
    )


def test_turns_are_told_by_their_numbers() -> None:
    text = text_of("origin --all", _loop(3), width=None)
    head, *rows = [line.split() for line in text.splitlines() if line.startswith(("Op type", "Softmax"))]
    assert head[-2:] == ["Exec", "Tensor"]
    assert [row[-2:] for row in rows] == [[str(turn), "while/body/softmax:0"] for turn in range(3)]
    assert json_of("origin --all", _loop(3))["executions"] == [0, 1, 2]


def test_without_turns_there_is_no_such_column() -> None:
    run = made_run(op("x", "Placeholder", value=[0.0]), op("log", "Log", "x", value=[-INF]))
    assert "Exec" not in text_of("origin --all", run, width=None)
    assert json_of("origin --all", run)["executions"] == [0]


def test_what_is_intended_in_every_turn_is_named_once() -> None:
    text = text_of("origin --all", _loop(4), width=None)
    assert text.count("while/body/mask:0") == 1
    assert "4 tensors hold infinities that look intended: while/body/mask:0, a mask of -inf" in text
    (benign,) = json_of("origin", _loop(4, op("log", "Log", "zero", value=[-INF])))["benign"]
    assert benign["tensor"] == "while/body/mask:0"
