"""`ln`: the nodes of a graph, before a run and after it."""

from __future__ import annotations

from support.prompt import Prompt
from support.sample_run import sample_run

from tfdbg_cli.model.runs import RunStart


def _names(prompt: Prompt, command: str) -> list[str]:
    return [row["name"] for row in prompt.data(command)["nodes"]]


def test_it_lists_what_the_graph_holds_computed_or_not() -> None:
    run = sample_run()
    prompt = Prompt(run)
    told = prompt.data("ln")
    assert (told["kind"], told["total"]) == ("nodes", len(run.graph))
    assert [row["name"] for row in told["nodes"]] == [node.name for node in run.graph]
    assert set(told["nodes"][0]) == {"name", "op_type", "device", "inputs", "control_inputs"}


def test_flags_choose_and_sort() -> None:
    prompt = Prompt(sample_run())
    everything = _names(prompt, "ln")
    assert _names(prompt, "ln -n ^loss") == [name for name in everything if name.startswith("loss")]
    assert _names(prompt, "ln -s node_name") == sorted(everything)
    assert _names(prompt, "ln -r") == everything[::-1]
    assert {row["op_type"] for row in prompt.data("ln -t '^Log$'")["nodes"]} == {"Log"}
    assert _names(prompt, "ln -q 'op=Log'") == _names(prompt, "ln -t '^Log$'")
    assert _names(prompt, "ln -n nothing_like_this") == []
    assert "is not a regular expression" in prompt.error("ln -n '['").message
    assert "a node" in prompt.error("ln -q 'size>1MB'").message


def test_it_is_there_before_a_run() -> None:
    run = sample_run()
    prompt = Prompt(RunStart(run.call, run.graph))
    assert len(_names(prompt, "ln")) == len(run.graph)
    assert "lt -f" not in prompt.show("ln")
