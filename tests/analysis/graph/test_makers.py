"""What an operand is, as far as the suggestion depends on it, told by the ops that made it."""

from __future__ import annotations

import pytest
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.graph.lineage import Lineage
from tfdbg_cli.analysis.graph.makers import Maker, maker_of


@pytest.mark.parametrize(
    ("nodes", "kind"),
    [
        ((op("e", "Exp", "x"), op("made", "Sum", "e")), Maker.EXPONENTIALS),
        ((op("e", "Exp", "x"), op("s", "Sum", "e"), op("made", "Reshape", "s")), Maker.EXPONENTIALS),
        ((op("e", "Square", "x"), op("made", "Sum", "e")), Maker.SQUARED_NORM),
        ((op("e", "Exp", "x"), op("made", "Mean", "e")), Maker.OTHER),
        ((op("made", "UnsortedSegmentSum", "x", "ids", "count"),), Maker.SEGMENTS),
    ],
    ids=["exponentials", "reshaped", "squares", "mean", "segments"],
)
def test_sums_by_what_they_are_of(nodes: tuple[Op, ...], kind: Maker) -> None:
    run = made_run(op("x", "Placeholder"), op("ids", "Const"), op("count", "Const"), *nodes)
    assert maker_of(run.graph.find("made"), Lineage(run)) is kind
