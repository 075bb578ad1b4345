"""Lines of a map (`--map FILE`) that fit no nodes, over all pairs of runs that were compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import made_run, op
from support.plain_text import plain

from tfdbg_cli.analysis.difference.compared_recordings import compared_recordings
from tfdbg_cli.analysis.pairing.renames import parsed_renames
from tfdbg_cli.commands.views.difference.page import Beside, difference_document
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
    document = difference_document(Beside(found, ("a", "b")))
    assert document.data()["unused_map_lines"] == unused
    assert said in plain(document.lines(120))
