"""`ignored`: what a watch left out."""

from __future__ import annotations

from dataclasses import replace

from support.golden import check_golden
from support.made_run import made_run, op
from support.prompt import json_of, links_of, text_of

from tfdbg_cli.model.ignored import Ignored, IgnoredPlace
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import RunEnd, RunStart

PLACES = (
    IgnoredPlace(
        1, "step", TensorName("mask", 0), "Const", "-inf", "a mask of -inf, gone in soft", True,
        ("mask", "masked"), "/home/ada/x.py", 12,
    ),
    IgnoredPlace(
        514, "", TensorName("log", 1), "Log", "NaN", "no result, no applied gradient and no variable is touched",
        False, ("log",),
    ),
)  # fmt: skip
END = replace(RunEnd(made_run(op("mask", "Const", value=1.0))), ignored=Ignored(PLACES))


def test_the_screen() -> None:
    check_golden("commands/ignored", text_of("ignored", END, width=120))
    assert links_of("ignored", END, width=120)["x.py:12"] == "ps /home/ada/x.py -b 12"


def test_nothing_was_left_out() -> None:
    start = RunStart(END.run.call)
    assert "no place was left out by a watch." in text_of("ignored", start)
    assert json_of("ignored", start)["ignored"] == []


def test_json() -> None:
    found = json_of("ignored", replace(RunStart(END.run.call), ignored=Ignored(PLACES)))
    assert found["kind"] == "ignored"
    assert found["ignored"][0] == {
        "number": 1, "by": "watch", "name": None, "named": [], "spoiled": [],
        "run": 1, "function": "step", "tensor": "mask:0", "op_type": "Const", "holds": "-inf", "intended": True,
        "why": "a mask of -inf, gone in soft", "nodes": ["mask", "masked"], "file": "/home/ada/x.py", "line": 12,
    }  # fmt: skip
    assert found["ignored"][1]["function"] is None and found["ignored"][1]["file"] is None
