"""Queries for what was not recorded: neither they nor their `not` hold, and every list says of how many rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.event_set_maker import EventSetMaker, health, proto
from support.prompt import Prompt

from tfdbg_cli.formats.opening import open_path

_JUDGED = "could not be judged: what the query asks for was not recorded, or cannot be read."
_SHAPE = proto(np.array([7, 1, 1, 6, 6, 0, 0, 0, 0, 0], np.float64))


def _opened(folder: Path, mode: int) -> Prompt:
    """Two calls of a softmax, a logarithm of it, and a variable that is read; the logarithm is not finite."""
    made = EventSetMaker(folder, mode=mode)
    fine, spoiled = {
        1: (None, None),
        2: (proto(np.array([-1.0, 0.0])), proto(np.array([-1.0, 1.0]))),
        4: (health(6), health(6, nan=2)),
        5: (_SHAPE, _SHAPE),
    }[mode]
    made.graph("g", "step")
    made.op("g", "layer/Softmax", "Softmax")
    made.op("g", "layer/Log", "Log", ["layer/Softmax:0"])
    made.op("g", "v", "VarHandleOp")
    made.op("g", "ReadVariableOp", "ReadVariableOp", ["v:0"])
    for name, told in (("layer/Softmax", fine), ("layer/Log", spoiled), ("ReadVariableOp", fine)):
        made.trace("g", name, told)
    made.execution("__inference_step_3", [], [5], [spoiled] if spoiled is not None else [], graph="g")
    return Prompt(open_path(folder))


def _nodes(prompt: Prompt, query: str) -> list[str]:
    return [row["name"].split(":")[0] for row in prompt.data(f"lt -n '^layer' -q '{query}'")["tensors"]]


def test_that_some_are_bad_is_known_where_nobody_counted_them(tmp_path: Path) -> None:
    """A blind test: `lt -q 'bad>0'` of CURT_HEALTH was empty, where the filter listed the logarithm."""
    prompt = _opened(tmp_path, 2)
    assert _nodes(prompt, "bad>0") == _nodes(prompt, "not bad=0") == _nodes(prompt, "bad>0%") == ["layer/Log"]
    assert _nodes(prompt, "not bad>0") == _nodes(prompt, "bad=0") == ["layer/Softmax"]
    assert _nodes(prompt, "bad>1") == []
    assert _nodes(prompt, "not nan>0") == ["layer/Softmax"], "the logarithm may have given infinities alone"
    assert [row["name"] for row in prompt.data("ll layer -q 'bad>0'")["layers"]] == ["layer"]
    assert [row["name"] for row in prompt.data("li layer/Log -q 'bad=0'")["nodes"]] == ["layer/Softmax"]
    assert prompt.data("timeline -q 'bad>0'")["executions"]


@pytest.mark.parametrize("mode", [1, 5])
@pytest.mark.parametrize("query", ["nan>0", "not nan>0", "bad>0", "not bad=0"])
def test_neither_a_query_nor_its_opposite_holds_for_what_nobody_knows(tmp_path: Path, mode: int, query: str) -> None:
    """A blind test: `not nan>0` listed every tensor of a set that tells shapes alone."""
    prompt = _opened(tmp_path, mode)
    for listed in ("lt -n '^layer'", "fq"):
        data = prompt.data(f"{listed} -q '{query}'")
        assert (data.get("tensors", data.get("values")), data["unread"]) == ([], 2 if "-n" in listed else 4)
        assert _JUDGED in prompt.show(f"{listed} -q '{query}'")
    assert "No tensor is known to be what the query asks for." in prompt.show(f"lt -q '{query}'")
    for listed, rows in (("li layer/Log", "nodes"), ("lv", "variables")):
        data = prompt.data(f"{listed} -q '{query}'")
        assert (data[rows], data["unread"]) == ([], 1)
        assert f"1 row {_JUDGED}" in prompt.show(f"{listed} -q '{query}'")


@pytest.mark.parametrize("mode", [1, 5])
@pytest.mark.parametrize("query", ["bad>0", "not bad>0"])
def test_layers_and_executions_of_which_nobody_knows(tmp_path: Path, mode: int, query: str) -> None:
    prompt = _opened(tmp_path, mode)
    for listed, rows in (("ll layer", "layers"), ("ll layer --stats", "layers"), ("timeline", "executions")):
        data = prompt.data(f"{listed} -q '{query}'")
        assert (data[rows], data["unread"]) == ([], 1)
        assert f"1 row {_JUDGED}" in prompt.show(f"{listed} -q '{query}'")


@pytest.mark.parametrize("query", ["shape=[6]", "not shape=[6]", "rank<3", "not rank<3", "size>1B", "not size>1B"])
def test_a_shape_that_nobody_knows_is_no_shape_and_no_other(tmp_path: Path, query: str) -> None:
    """A blind test: `not shape=[6]` listed what has no shape here, and `rank<3` left it out, without a word."""
    found = _opened(tmp_path, 2).data(f"lt -n '^layer' -q '{query}'")
    assert (found["tensors"], found["unread"]) == ([], 2)


def test_a_size_is_known_by_the_count_of_elements(tmp_path: Path) -> None:
    prompt = _opened(tmp_path, 4)  # of a matrix this mode tells how many elements it has, and no shape
    assert _nodes(prompt, "size=6") == _nodes(prompt, "not size>6") == ["layer/Softmax", "layer/Log"]
    assert _nodes(prompt, "size<6") == [] and "unread" not in prompt.data("lt -q 'size<6'")


def test_the_size_of_a_variable_is_told_by_its_bytes_where_its_shape_is_not(tmp_path: Path) -> None:
    """A blind test: `lv` said 0 elements of 60 bytes, in sum."""
    prompt = _opened(tmp_path, 4)
    told = prompt.data("lv")
    assert (told["elements"], told["nbytes"], told["variables"][0]["shape"]) == (6, 24, None)
    assert told["variables"][0]["elements"] == 6
    assert prompt.show("lv").startswith("1 variable; 6 elements; 24 B\n")
    assert [one["name"] for one in prompt.data("lv -q 'size=6 zero<50%'")["variables"]] == ["v"]


def test_what_else_a_query_asks_still_decides(tmp_path: Path) -> None:
    prompt = _opened(tmp_path, 5)
    assert _nodes(prompt, "op=Log or nan>0") == ["layer/Log"]
    found = prompt.data("lt -q 'op=Log nan>0'")
    assert (found["tensors"], found["unread"]) == ([], 1)
    assert "unread" not in prompt.data("lt -q 'not op=Log size<5 nan>0'")


def test_a_count_that_was_recorded_is_known_beside_a_range_that_was_not(tmp_path: Path) -> None:
    prompt = _opened(tmp_path, 4)
    assert _nodes(prompt, "nan=2") == _nodes(prompt, "nan>30%") == ["layer/Log"]
    assert "unread" not in prompt.data("lt -q 'not nan>0'")
    assert prompt.data("lt -q 'max>1'")["unread"] == prompt.data("lt -q 'not max>1'")["unread"] == 4
