"""A format of another kind: one file, and statistics without values. A row in the list is all it needs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.prompt import Prompt

from tfdbg_cli.formats import opening
from tfdbg_cli.formats.dump_format import DUMP, DUMPS
from tfdbg_cli.formats.recording.format import Format, NamedPath
from tfdbg_cli.formats.recording.saved_runs import SavedRecording, SavedRuns
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.gathered import PartOfStore
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.statistics import Summary, merged
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, summary_of
from tfdbg_cli.model.values import Lack, NoValue

_NO_VALUE = NoValue(Lack.GONE, "Only counts were recorded.")
_NOT_TOLD = frozenset({"neg", "zero", "pos", "min", "max", "mean", "std"})
LINES = [
    {"node": "ok", "size": 6, "nan": 0},
    {"node": "bad", "size": 6, "nan": 2},
    {"node": "blind/Log", "size": 6},
]


class Counted(MemoryTensorStore):
    """Tensors of which the file has counts."""

    def __init__(self, rows: list[dict]) -> None:
        tensors = [Tensor(TensorName(row["node"], 0), "", 0, "float32", (2, 3), 24, None, "Log") for row in rows]
        super().__init__(tensors, [_NO_VALUE] * len(rows))
        self._rows = rows

    def summary(self, index: int) -> Summary:
        row = self._rows[index]
        unknown = _NOT_TOLD if "nan" in row else _NOT_TOLD | {"nan", "neg_inf", "pos_inf"}
        return Summary(row["size"], row.get("nan", 0), unknown=unknown)


def _read(text: str) -> Run:
    return Run(Call(1, RunKind.FUNCTION, (), function="step"), Counted(json.loads(text)))


def _open(place: NamedPath) -> SavedRecording:
    texts = place.path.read_text().splitlines()
    return SavedRecording(SavedRuns(texts, _read), ("Values were not recorded.",))


COUNTS = Format("a file of counts (NAME.counts)", lambda place: place.path.suffix == ".counts", _open)


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    monkeypatch.setattr(opening, "FORMATS", (DUMP, DUMPS, COUNTS))  # whatever else there is by now
    path = tmp_path / "fit.counts"
    path.write_text(f"{json.dumps(LINES)}\n{json.dumps(LINES[:1])}\n")
    return opening.open_path(path)


def test_a_file_can_be_a_recording(opened: Opened) -> None:
    assert [len(run.tensors) for run in opened.runs] == [3, 1]
    assert opened.notes == ("Values were not recorded.",)


def test_what_is_none_is_told_of_all_formats(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with pytest.raises(Exception, match=r"is a file") as caught:
        opening.open_path(tmp_path / "other")
    assert caught.value.hint.endswith("(run_<time>_<number>) or a file of counts (NAME.counts).")


def test_statistics_come_from_the_file_and_what_it_does_not_tell_is_said(opened: Opened) -> None:
    prompt = Prompt(opened)
    rows = prompt.data("lt --stats")["tensors"]
    assert [row["summary"]["nan"] for row in rows] == [0, 2, None]
    assert {row["summary"]["min"] for row in rows} == {None}
    shown = prompt.show("lt --stats", 120).splitlines()
    assert [row.count("?") for row in shown if ":0" in row] == [0, 0, 2]
    assert "2" in next(row for row in shown if "bad:0" in row)


def test_a_value_that_was_not_recorded_is_shown_by_its_counts(opened: Opened) -> None:
    prompt = Prompt(opened)
    shown = prompt.show("pt bad:0")
    assert "n=6 NaN×2" in shown and "Only counts were recorded." in shown
    assert "Not recorded: neg, zero, pos, min, max, mean, std." in shown
    data = prompt.data("pt bad:0")
    assert (data["summary"]["nan"], data["summary"]["zero"], data["value"]) == (2, None, None)
    assert "NaN and inf not recorded" in prompt.show("pt blind/Log:0")


def test_a_sum_over_a_scope_is_unknown_where_one_of_it_is(opened: Opened) -> None:
    (row,) = Prompt(opened).data("layers --stats")["layers"]
    assert (row["name"], row["nonfinite"]) == ("blind", None)
    assert "?" in Prompt(opened).show("layers --stats")
    summaries = [summary_of(opened.runs[0].tensors, index) for index in range(3)]
    assert (merged(summaries[:2]).nan, merged(summaries[:2]).tells_nonfinite) == (2, True)
    assert not merged(summaries).tells_nonfinite


def test_what_is_in_a_folder_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = []
    (tmp_path / "inner").mkdir()
    (tmp_path / "file").touch()
    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: listed.append(path) or listdir(path))
    place = NamedPath(tmp_path)
    place.require_readable()
    assert (place.names, place.folders, place.is_file) == (["file", "inner"], ["inner"], False)
    assert listed == [tmp_path]
    assert NamedPath(tmp_path / "file").is_file and not NamedPath(tmp_path / "file").names


def test_a_part_of_a_store_tells_what_the_store_tells(opened: Opened) -> None:
    store = opened.runs[0].tensors
    assert summary_of(PartOfStore(store, [1]), 0) == summary_of(store, 1)
    assert summary_of(PartOfStore(MemoryTensorStore([store[0]], [_NO_VALUE]), [0]), 0) is None
