"""`timeline` of recordings that tell of whole runs."""

from __future__ import annotations

from dataclasses import replace

from support.prompt import Prompt
from support.sample_run import sample_run

from tfdbg_cli.model.runs import Change, Opened


def test_what_if_is_no_execution_of_the_program() -> None:
    own = sample_run()
    made = replace(own, change=Change(own, {own.tensors[0].name: own.tensors.value(0)}, 1))
    data = Prompt(Opened("case", [own, made, own])).data("timeline")
    assert [(one["place"], one["run"]) for one in data["executions"]] == [(1, 3), (3, 3)]


def test_columns_of_which_nothing_is_known_are_left_out() -> None:
    """They were empty, so that runs with NaN looked clean."""
    text = Prompt(Opened("case", [sample_run(), sample_run()])).show("timeline")
    assert "Holds" not in text and "Line" not in text
    assert "alerts says which of them hold NaN or infinity." in text
