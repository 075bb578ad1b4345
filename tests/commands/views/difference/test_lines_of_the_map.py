"""Lines of a map (`--map FILE`) that fit no nodes, over all pairs of runs that were compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.made_run import made_run, op
from support.plain_text import plain

from tfdbg_cli.analysis.difference.compared_recordings import compared_recordings
from tfdbg_cli.analysis.pairing.renames import parsed_renames
from tfdbg_cli.commands.views.difference.page import SideBySide, difference_document
from tfdbg_cli.commands.views.difference.recordings import DiffRequest, Recorded, compared
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Run

RENAMES = parsed_renames("log logarithm\nsqrt root\nnothing nobody\n")


def _run(number: int, node: str, op_type: str, value: float) -> Run:
    x = np.ones(2, np.float32)
    made = made_run(op("x", "Placeholder", value=x), op(node, op_type, "x", value=x * np.float32(value)))
    return replace(made, call=replace(made.call, number=number))


def _recordings(last: float) -> tuple[list[Run], list[Run]]:
    """Two runs of different programs each; `last` is the value in the first of recording B, 1.0 in A."""
    first = [_run(1, "log", "Log", 1.0), _run(2, "sqrt", "Sqrt", 1.0)]
    second = [_run(1, "logarithm", "Log", last), _run(2, "root", "Sqrt", 1.0)]
    return first, second


@pytest.mark.parametrize(
    ("first_value", "unused", "said"),
    [
        (1.0, [3], "these lines fit no pair of nodes: 3"),
        (2.0, [2, 3], "these lines fit no pair of nodes in the runs that were compared: 2, 3"),
    ],
    ids=["all runs agree", "the first pair differs"],
)
def test_a_line_counts_as_used_where_it_fits_in_any_pair_of_runs(
    first_value: float, unused: list[int], said: str
) -> None:
    """A blind test: only the pair that is shown was asked, as a rule the last one."""
    found = compared_recordings(*_recordings(first_value), renames=RENAMES)
    assert list(found.unused_lines) == unused
    document = difference_document(SideBySide(found, ("a", "b")))
    assert document.data()["unused_map_lines"] == unused
    assert said in plain(document.lines(120))


def test_a_map_that_cannot_be_read_says_what_one_is(tmp_path: Path) -> None:
    """A blind test: the number of the system's error stood there, and no way out."""
    first, second = (Recorded(runs, name) for runs, name in zip(_recordings(1.0), "ab", strict=True))
    missing = str(tmp_path / "nosuch")
    with pytest.raises(TfdbgError) as refused:
        compared(first, second, DiffRequest(map_file=missing))
    assert refused.value.message == f"Cannot read the map {missing}: No such file or directory."
    assert "two names a line" in refused.value.hint


def test_of_a_node_that_is_not_there_a_list_of_those_that_are_is_named() -> None:
    with pytest.raises(TfdbgError) as refused:
        _run(1, "log", "Log", 1.0).graph.node("zzzzzz")
    assert refused.value.hint == "`ln` lists the nodes."
