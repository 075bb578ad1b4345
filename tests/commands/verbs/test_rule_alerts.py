"""`alerts` at a stop of a program whose runs rules judge."""

from __future__ import annotations

import numpy as np
from support.made_run import INF, made_run, op
from support.prompt import follow_all, json_of, links_of, text_of

from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.model.beside import Observations
from tfdbg_cli.model.rules import RuleAlert
from tfdbg_cli.model.runs import RunEnd

RUN = made_run(op("log", "Log", value=np.array([INF])))
DEAD = RuleAlert("dead_relu", 3, "step", "net/Relu:0", 0, "Relu", "/a/train.py", 7, "float32[8] all x=0", 4, 9)
SAME = RuleAlert("has_inf_or_nan", RUN.call.number, "", "log:0", 0, "Log", None, None, "+inf")


def test_rules_stand_above_what_the_runs_at_hand_hold() -> None:
    text = text_of("alerts", RunEnd(RUN, beside=Observations((DEAD, SAME))))
    assert text.index("2 rules fired, for 2 tensors") < text.index("1 alert")
    row = next(line for line in text.splitlines() if line.startswith("dead_relu"))
    assert row.split()[:4] == ["dead_relu", "#3", "4", "train.py:7"]
    log = RuleAlert("has_inf", RUN.call.number, "", "log:0", 0, "Log", None, None, "+inf")
    assert links_of("alerts", RunEnd(RUN, beside=Observations((log, DEAD))))["log:0"] == "pt log:0"
    assert follow_all("alerts", RunEnd(RUN, beside=Observations((SAME,))))
    assert opening_command(RunEnd(RUN, beside=Observations((log,)))) == "alerts"
    assert opening_command(RunEnd(RUN, beside=Observations((DEAD,)))) == "lt", "it fired in another run"


def test_scripts_get_both_and_nothing_twice() -> None:
    alerts = json_of("alerts", RunEnd(RUN, beside=Observations((DEAD, SAME))))["alerts"]
    assert [(one["rule"], one["tensor"]) for one in alerts] == [
        ("dead_relu", "net/Relu:0"),
        ("has_inf_or_nan", "log:0"),
    ]
    assert (alerts[0]["run"], alerts[0]["runs"], alerts[0]["last_run"], alerts[0]["line"]) == (3, 4, 9, 7)
    assert alerts[0]["text"] == "Relu gave float32[8] all x=0"
    assert {"rule", "run", "place", "tensor", "file", "line", "text"} <= alerts[0].keys() & alerts[1].keys()


def test_a_query_is_asked_of_the_runs_at_hand_alone() -> None:
    assert "dead_relu" not in text_of("alerts -q op=Log", RunEnd(RUN, beside=Observations((DEAD,))))
