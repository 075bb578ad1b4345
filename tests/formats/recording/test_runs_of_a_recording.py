"""The runs of a recording, which are read when they are looked at."""

from __future__ import annotations

from support.made_run import made_run, op

from tfdbg_cli.formats.recording.saved_runs import SavedRuns
from tfdbg_cli.model.runs import Run


def test_runs_in_a_notebook_are_counted_and_not_read() -> None:
    read: list[int] = []

    def run(number: int) -> Run:
        read.append(number)
        return made_run(op("x", "Const", value=[1.0]))

    assert repr(SavedRuns([1, 2, 3], run)) == "<3 runs>"
    assert repr(SavedRuns([1], run)) == "<1 run>"
    assert not read
