"""`tree` and the folds of `layers`: a scope is a row until it is unfolded, and stays as it was left."""

from __future__ import annotations

import pytest
from support import sample_run, sample_step
from support.golden import check_golden
from support.prompt import Prompt

from tfdbg_cli.commands.folds import fold_command, folds_at
from tfdbg_cli.model.runs import RunEnd


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(RunEnd(sample_step.step_run()))


@pytest.mark.parametrize(("name", "command"), [("tree", "tree"), ("tree_unfolded", "tree --unfold one_step_on_data")])
def test_screens(name: str, command: str) -> None:
    check_golden(f"commands/{name}", Prompt(RunEnd(sample_step.step_run())).show(command))


def rows(prompt: Prompt, command: str) -> list[str]:
    return [row["name"] for row in prompt.data(command)["rows"]]


def test_what_was_unfolded_stays_so_until_it_is_folded() -> None:
    prompt = Prompt(sample_run.run_end())
    before = rows(prompt, "tree")
    assert "loss" in before and "loss/Log" not in before
    unfolded = rows(prompt, "tree --unfold loss")
    at = before.index("loss") + 1
    assert unfolded == [*before[:at], "loss/Const", "loss/Log", "loss/Mean", "loss/mul", *before[at:]]
    assert rows(prompt, "tree") == unfolded
    assert rows(prompt, "tree --fold loss") == before


def test_each_row_leads_on() -> None:
    prompt = Prompt(sample_run.run_end())
    assert prompt.link("tree", "+ loss") == "tree --unfold loss"
    assert prompt.link("tree --unfold loss", "- loss") == "tree --fold loss"
    assert prompt.link("tree", "    Log") == "ni -d -t loss/Log"
    for link in prompt.links("tree"):
        prompt.run(link)


def test_a_part_of_the_tree_and_mistakes() -> None:
    prompt = Prompt(sample_run.run_end())
    assert rows(prompt, "tree loss") == ["loss/Const", "loss/Log", "loss/Mean", "loss/mul"]
    assert prompt.error("tree nowhere").message == "There is no scope 'nowhere' in this graph."
    assert prompt.error("tree --unfold prob").message == "There is no scope 'prob' here."
    assert rows(Prompt(sample_run.run_start()), "tree loss") == rows(prompt, "tree loss")


def test_counts_on_a_folded_row_are_of_all_inside() -> None:
    prompt = Prompt(sample_run.run_end())
    loss = next(row for row in prompt.data("tree")["rows"] if row["name"] == "loss")
    assert loss == {"name": "loss", "node": False, "scope": True, "folded": True, "nodes": 4, "tensors": 3}


def test_layers_fold_too(prompt: Prompt) -> None:
    whole = prompt.show("layers")
    assert "cell" in whole
    folded = prompt.show("layers --fold model/lstm")
    assert "cell" not in folded and "1 more lies deeper" in folded
    assert prompt.show("layers") == folded  # it stays so
    assert prompt.link("layers", "+") == "ll --unfold model/lstm"
    assert prompt.show("layers --unfold model/lstm") == whole
    assert prompt.data("layers --fold model")["layers"] == prompt.data("layers")["layers"]  # JSON has all levels
    assert prompt.error("layers --fold nowhere").message == "There is no scope 'nowhere' here."


def test_all_at_once_and_several_levels() -> None:
    prompt = Prompt(RunEnd(sample_step.step_run()))
    every = rows(prompt, "tree --unfold *")
    assert rows(prompt, "tree") == every and "one_step_on_data/model/lstm/while/body" in every
    folded = rows(prompt, "tree --fold *")
    assert not [name for name in folded if "/" in name] and rows(prompt, "tree") == folded
    two = rows(prompt, "tree --unfold one_step_on_data --levels 2")
    assert {name.count("/") for name in two} == {0, 1, 2}
    rows(prompt, "tree --fold one_step_on_data/model")
    assert {name.count("/") for name in rows(prompt, "tree --unfold one_step_on_data --levels 3")} == {0, 1, 2, 3}
    for wrong in ("tree --levels 2", "tree --unfold one_step_on_data --levels 0"):
        assert prompt.error(wrong).message == "--levels says how many levels --unfold shows, from 1."


def test_what_was_folded_by_hand_is_unfolded_by_the_link_to_what_lies_deeper(prompt: Prompt) -> None:
    whole = prompt.show("layers")
    assert prompt.link("layers --fold *", "ll --unfold *") == "ll --unfold *"
    assert prompt.show("ll --unfold *") == whole


def test_one_fold_takes_the_place_of_another() -> None:
    assert fold_command("tree --unfold a", "b c", False) == "tree --unfold 'b c'"
    assert fold_command("ll model -d 2 --fold x", "x", False) == "ll model -d 2 --unfold x"
    assert fold_command("tree --unfold a --levels 3", "b", False, 2) == "tree --levels 2 --unfold b"
    assert fold_command("tree --unfold a --levels 3", "b", True, 2) == "tree --fold b"
    assert folds_at("tree --fold 'b c'") == "b c"
    assert folds_at("lt -l x") == folds_at("") == ""
