"""`layers`, `lt -l`, `lt --role`: what belongs to a layer, wherever a function, a loop or a gradient put it."""

from __future__ import annotations

import numpy as np
import pytest
from support import sample_run, sample_step
from support.golden import check_golden
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.commands.completion import complete
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.runs import RunEnd


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(RunEnd(sample_step.step_run()))


def names(prompt: Prompt, command: str) -> list[str]:
    return [tensor["name"] for tensor in prompt.data(command)["tensors"]]


@pytest.mark.parametrize(
    ("name", "command"),
    [("layers", "layers --stats"), ("layers_one", "ll lstm"), ("lt_layer", "lt -l head"), ("lt_function", "lt")],
)
def test_screens(prompt: Prompt, name: str, command: str) -> None:
    check_golden(f"commands/{name}", prompt.show(command))


def test_a_layer_has_forward_gradient_and_update(prompt: Prompt) -> None:
    found = prompt.data("lt -l head")["tensors"]
    assert {t["role"] for t in found} == {"forward", "gradient", "update"}
    assert all("head" in t["name"] or "adam" in t["name"] for t in found)


def test_roles_narrow_and_combine(prompt: Prompt) -> None:
    assert names(prompt, "lt --role grad") == names(prompt, "lt --role gradient")
    assert all("gradient_tape" in name for name in names(prompt, "lt --role grad"))
    assert names(prompt, "lt -l head --role upd") == [
        "one_step_on_data/adam/rate:0",
        "one_step_on_data/adam/Mul:0",
    ]
    assert names(prompt, "lt -l lstm --role grad") == []
    assert "forward" in prompt.error("lt --role sideways").message


def test_every_number_leads_to_that_many_tensors(prompt: Prompt) -> None:
    for row in prompt.data("layers -d 9")["layers"]:
        assert len(names(prompt, f"lt -l {row['name']}")) == row["tensors"], row
        for role in ("forward", "gradient", "update"):
            assert len(names(prompt, f"lt -l {row['name']} --role {role}")) == row[role]
    links = [link for link in prompt.links("layers --stats") if link.startswith("lt")]
    assert "lt -l model/head --role update" in links and "lt -l loss -f has_inf_or_nan" in links
    for link in links:
        assert names(prompt, link)


def test_json(prompt: Prompt) -> None:
    data = prompt.data("layers --stats loss")
    assert data["kind"] == "layers"
    assert data["layers"] == [
        {"name": "loss", "tensors": 1, "nbytes": 12, "forward": 1, "gradient": 0, "update": 0, "nonfinite": 2}
    ]
    assert "nonfinite" not in prompt.data("layers")["layers"][0]


def test_sorting_keeps_the_layer(prompt: Prompt) -> None:
    assert prompt.link("lt -l head --role upd", "Size") == "lt -l head --role update -s dump_size -r"


def test_the_depth_hides_and_offers(prompt: Prompt) -> None:
    shown = prompt.show("layers -d 1")
    assert "lstm" not in shown and "3 more lie deeper" in shown
    assert "cell" in prompt.show(prompt.link("layers -d 1", "ll -d"))
    assert "too few" in prompt.error("layers -d 0").message


def test_an_unknown_layer_names_the_nearest(prompt: Prompt) -> None:
    assert "head" in prompt.error("lt -l heda").hint
    assert "no layer or scope" in prompt.error("layers nothing").message


def test_a_run_without_scopes_says_so() -> None:
    flat = Prompt(RunEnd(made_run(op("a", "Relu", value=1.0))))
    assert "no layers and scopes" in flat.show("layers")
    assert flat.data("layers")["layers"] == []
    assert "Role" not in flat.show("lt"), "a column that says nothing is left out"


def test_layers_complete_by_their_name_and_by_their_path(prompt: Prompt) -> None:
    registry = standard_registry()
    assert complete("lt -l ls", prompt.context, registry).candidates == ("lstm",)
    assert complete("lt -l model/h", prompt.context, registry).candidates == ("model/head",)
    assert complete("lt --role g", prompt.context, registry).candidates == ("gradient",)


def test_names_of_nested_nodes_are_shortened_and_explained(prompt: Prompt) -> None:
    shown = prompt.show("lt -l head")
    assert "…/ is one_step_on_data/" in shown
    assert "…/model/head/MatMul:0" in shown
    assert "pt one_step_on_data/model/head/MatMul:0" in prompt.links("lt -l head")
    assert "…/" not in Prompt(sample_run.run_end()).show("lt"), "sessions have no calls"


def test_control_characters_in_names_of_layers_are_data() -> None:
    run = made_run(op("evil\x1b[2J/Mul", "Mul", value=np.float32(1)))
    assert "\x1b" not in Prompt(RunEnd(run)).show("layers")
