"""`timeline` of recordings that tell of whole runs."""

from __future__ import annotations

from dataclasses import replace

from support.prompt import Prompt
from support.sample_run import sample_run

from tfdbg_cli.model.runs import Change, Opened


def test_what_if_is_no_execution_of_the_program() -> None:
    own = sample_run()
    made = replace(own, change=Change(own, (own.tensors[0].name,), 1))
    data = Prompt(Opened("case", [own, made, own])).data("timeline")
    assert [(one["place"], one["run"]) for one in data["executions"]] == [(1, 3), (3, 3)]
