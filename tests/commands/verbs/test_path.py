"""`path`: the way of a value from one op to another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support import sample_run
from support.event_set_maker import small_set
from support.golden import check_golden
from support.made_run import NAN, made_graph, made_run, op
from support.prompt import Prompt, ask, json_of, links_of, text_of
from support.screen import Driven

from tfdbg_cli.analysis.graph.ways.between import shortest_way
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.formats.opening import open_path


def test_screen() -> None:
    check_golden("commands/path", text_of("path x loss/Mean", sample_run.sample_run()))


def test_the_shortest_way_with_what_is_bad_on_it() -> None:
    run = made_run(
        op("a", "Placeholder", value=[1.0, 0.0]),
        op("long1", "Neg", "a", value=[0.0, 0.0]),
        op("long2", "Neg", "long1", value=[0.0, 0.0]),
        op("short", "Log", "a", value=[0.0, -np.inf]),
        op("end", "Mul", "long2", "short", value=[0.0, NAN]),
    )
    found = json_of("path a end", run)
    assert [node["name"] for node in found["nodes"]] == ["a", "short", "end"]
    assert [node["summary"]["neg_inf"] for node in found["nodes"]] == [0, 1, 0]
    assert found["nodes"][2]["summary"]["nan"] == 1
    assert (found["between"], found["turned"]) == (5, False)
    assert "2 more nodes on other ways" in text_of("path a end", run)


def test_the_other_way_round_is_said() -> None:
    run = made_run(op("a", "Const", value=1.0), op("b", "Neg", "a", value=-1.0))
    assert json_of("path b a", run)["turned"]
    assert "against the order" in text_of("path b a", run)


def test_no_way_at_all() -> None:
    run = made_run(op("a", "Const", value=1.0), op("b", "Const", value=2.0))
    assert json_of("path a b", run)["found"] is False
    assert "No value flows" in text_of("path a b", run) and "variable" not in text_of("path a b", run)
    run = made_run(op("a", "Const", value=1.0), op("b", "Const", value=2.0), op("c", "AssignAddVariableOp", "a"))
    assert "Ways through a variable, which is written and read again, are not followed" in text_of("path a b", run)


def test_a_way_that_a_recording_has_no_edge_for_is_not_denied(tmp_path: Path) -> None:
    """A blind test: of Debugger V2 no value flowed into a function that is called, nor out of it."""
    small_set(tmp_path)
    prompt = Prompt(open_path(tmp_path))
    prompt.run("runs 2")
    data = prompt.data("path Softmax logarithm/Log")
    assert (data["found"], data["unknown"]) == (False, ["logarithm/y"])
    shown = prompt.show("path Softmax logarithm/Log")
    assert shown.startswith("No value is known to flow from Softmax to logarithm/Log, nor the other way.\n")
    assert "What flows into logarithm/y is not told: no edge to it is recorded." in shown
    assert prompt.data("path logarithm/Log mul")["unknown"] == ["StatefulPartitionedCall", "logarithm/y"]
    given = made_run(op("x", "Placeholder", value=1.0), op("b", "Const", value=2.0), feeds={"x:0": 1.0})
    assert json_of("path x b", given)["unknown"] == []
    assert prompt.data("path Softmax mul")["unknown"] == [], "it is found"
    eager = Prompt(open_path(tmp_path))
    assert eager.data("path Mul_0 tensor_1")["turned"] and eager.data("path tensor_2 tensor_1")["unknown"] == []


def test_the_slot_that_flows_is_named() -> None:
    run = made_run(op("a", "Unpack", value=1.0), op("b", "Neg", "a:1", value=-1.0))
    assert json_of("path a b", run)["nodes"][0]["tensor"] == "a:1"


def test_before_a_run_the_graph_alone_is_walked() -> None:
    text = text_of("path x loss/Mean", sample_run.run_start())
    assert "MatMul" in text
    assert "not captured" not in text


def test_rows_lead_on() -> None:
    links = links_of("path x loss/Mean", sample_run.sample_run())
    assert links["dense/MatMul:0"] == "pt dense/MatMul:0"
    assert ask("path x x", sample_run.sample_run())


def test_on_the_screen_health_comes_later() -> None:
    screen = Driven(sample_run.run_hit(), ":path x loss/Mean<enter>", size=(120, 40), registry=standard_registry())
    assert "loss/Log:0" in screen.text
    row = next(row for row in screen.rows if "loss/Log:0" in row)
    assert " 2 " in row


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60))
def test_always_a_way_where_a_search_from_behind_finds_one(pairs: list[tuple[int, int]]) -> None:
    inputs: dict[int, list[str]] = {i: [] for i in range(31)}
    for a, b in pairs:
        if a < b:
            inputs[b].append(f"n{a}")
    graph = made_graph(*(op(f"n{i}", "AddN", *inputs[i]) for i in range(31)))
    far = {30: 0}
    for i in range(30, -1, -1):
        for name in inputs[i] if i in far else ():
            far[int(name[1:])] = min(far.get(int(name[1:]), 99), far[i] + 1)
    start, end = graph.find("n0"), graph.find("n30")
    assert start is not None
    assert end is not None
    way = shortest_way(graph, start, end)
    assert (None if way is None else len(way.edges)) == far.get(0)
