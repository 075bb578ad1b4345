"""Queries kept by name."""

from __future__ import annotations

import pytest
from support import sample_run
from support.prompt import Prompt

from tfdbg_cli.commands.query.language import QueryError
from tfdbg_cli.paths import queries_file


@pytest.fixture
def prompt(tmp_path, monkeypatch) -> Prompt:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return Prompt(sample_run.run_end())


def names(prompt: Prompt, command: str) -> list[str]:
    return [tensor["name"] for tensor in prompt.data(command)["tensors"]]


def test_a_query_is_kept_used_in_others_and_forgotten(prompt: Prompt) -> None:
    assert not queries_file().exists()
    prompt.run("queries sick 'nan>0 or inf>0'")
    prompt.run("queries loss '@sick ^loss'")
    again = Prompt(sample_run.run_end())  # another program
    assert names(again, "lt -q @loss") == ["loss/Log:0", "loss/mul:0", "loss/Mean:0"]
    assert names(again, "lt -q '@sick not @loss'") == ["spectrum:0", "half/Cast:0"]
    assert "filter @sick and not @loss: 2 of 20 rows" in again.show("lt -q '@sick not @loss'")
    assert again.data("queries")["queries"] == {"loss": "@sick ^loss", "sick": "nan>0 or inf>0"}
    assert again.link("queries", "@sick") == "lt -q @sick"
    again.run("queries loss --forget")
    assert again.error("lt -q @loss").message == "The query, column 1: there is no query called 'loss'."


def test_what_cannot_be_kept(prompt: Prompt) -> None:
    assert isinstance(prompt.error("queries bad 'nan>'"), QueryError)
    assert "no name" in prompt.error("queries 'a b' x").message
    assert "no query called" in prompt.error("queries nothing --forget").message
    assert "behind the name" in prompt.error("queries some").message
    assert "not both" in prompt.error("queries some x --forget").message
    assert "stands for itself" in prompt.error("queries some '@some'").message
    assert not queries_file().exists()
    queries_file().parent.mkdir(parents=True)
    queries_file().write_text("{")
    assert "Cannot read the named queries" in prompt.error("lt -q @x").message
    assert names(prompt, "lt -q prob") == ["prob:0"]  # nobody asks for the file
    queries_file().write_text("[]")
    assert "something else" in prompt.error("queries").message


def test_the_page_explains_the_language(prompt: Prompt) -> None:
    shown = prompt.show("queries")
    assert "op, type, op_type" in shown and "Queries with a name" not in shown
