"""`trends`: norms of gradients, weights and updates over runs."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
from support.golden import check_golden
from support.made_run import made_run, op
from support.prompt import Prompt, json_of, links_of, text_of
from support.screen import Driven
from support.trained_steps import trained_steps

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import PartOfStore, TensorStore, gone, summary_of
from tfdbg_cli.model.values import NoValue


def test_norms_of_a_layer_run_by_run() -> None:
    series = {one["quantity"]: one for one in json_of("trends", trained_steps())["series"]}
    assert [one["name"] for one in series.values()] == ["dense"] * 3, "metrics and slots are no layers"
    assert all(one["steps"] == [5, 7, 8] for one in series.values()), "runs of another function do not count"
    assert series["gradient"]["values"] == [0.5, 50.0, "nan"]
    assert series["weight"]["values"] == [5.0, pytest.approx(math.sqrt(18)), pytest.approx(math.sqrt(34))]
    assert series["update"]["values"] == [1.0, 10.0, "nan"]


def test_screens() -> None:
    check_golden("commands/trends", text_of("trends", trained_steps()))
    check_golden("commands/trends_layer", text_of("trends dense --of gradient", trained_steps()))


def test_a_layer_is_found_by_a_part_of_its_name() -> None:
    assert len(json_of("trends dense --of update", trained_steps())["series"]) == 1
    assert "There are no norms of a layer 'dnse'" in str(Prompt(trained_steps()).error("trends dnse"))


def test_rows_lead_to_a_curve_and_to_runs() -> None:
    assert links_of("trends", trained_steps())["gradient"] == "trends dense --of gradient"
    assert links_of("trends dense --of gradient", trained_steps())["#7"] == "runs 3"


def test_all_takes_runs_of_other_functions_too() -> None:
    assert json_of("trends -a --of weight", trained_steps())["series"][0]["steps"] == [5, 6, 7, 8]


_MOMENTS = "min", "max", "mean", "std"


class _Numbers(PartOfStore):
    """A store that kept statistics and no values, some of them without the `lacking` ones."""

    def __init__(self, store: TensorStore, lacking: frozenset[str]) -> None:
        super().__init__(store, range(len(store)))
        self._told = [summary_of(store, row) for row in range(len(store))]
        self._lacking = lacking

    def value(self, index: int) -> NoValue:
        return gone("Values were not recorded.")

    def summary(self, index: int) -> Summary | None:
        told = self._told[index]
        if told is None:
            return None
        forgotten: dict[str, Any] = {name: None if name in _MOMENTS else 0 for name in self._lacking}
        return dataclasses.replace(told, unknown=self._lacking, **forgotten)


def _without_values(*lacking: str) -> RunEnd:
    stop = trained_steps()
    whole = (*stop.earlier, stop.run)
    runs = [dataclasses.replace(run, tensors=_Numbers(run.tensors, frozenset(lacking))) for run in whole]
    return RunEnd(runs[-1], stop.hit, runs[:-1])


def test_norms_are_made_of_recorded_statistics() -> None:
    found = json_of("trends", _without_values())
    expected = {one["quantity"]: one["values"] for one in json_of("trends", trained_steps())["series"]}
    del expected["update"]  # a difference takes values
    assert {one["quantity"]: one["values"] for one in found["series"]} == {
        quantity: [value if isinstance(value, str) else pytest.approx(value) for value in values]
        for quantity, values in expected.items()
    }
    assert found["untold"] == 0


def test_gradients_without_values_are_told() -> None:
    found = json_of("trends --of gradient", _without_values(*_MOMENTS))  # as the mode FULL_HEALTH counts
    assert [(one["steps"], one["values"]) for one in found["series"]] == [([8], ["nan"])], "a NaN was counted"
    assert found["untold"] == 2
    shown = text_of("trends", _without_values(*_MOMENTS, "nan", "pos_inf", "neg_inf", "zero"))
    assert "Of 3 gradients neither values nor mean and std were recorded" in shown
    assert "Nothing in these runs is a gradient" not in shown


def test_a_run_without_training_says_so() -> None:
    run = made_run(op("a", "Const", value=1.0))
    assert json_of("trends", run)["series"] == []
    assert "Nothing in these runs is a gradient" in text_of("trends", run)


def test_a_row_has_its_curve_as_a_preview() -> None:
    assert "gradient of dense" in text_of("preview trends dense --of gradient", trained_steps())
    screen = Driven(trained_steps(), opening="trends", size=(160, 40), registry=standard_registry())
    assert "gradient of dense" in screen.text
    assert "log scale" in screen.text
