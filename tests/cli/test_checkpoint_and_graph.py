"""`tfdbg checkpoint` beside a graph: its partitioned variables, which a checkpoint holds whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.checkpoint_maker import checkpoint

from tfdbg_cli.cli import main as cli

_NODE = """\
node {
  name: "%s"
  op: "VarHandleOp"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { %s } } }
}
"""


def _graph(path: Path, variables: Mapping[str, tuple[int, ...]]) -> Path:
    """A file with a graph that has these variables."""
    dims = {name: " ".join(f"dim {{ size: {size} }}" for size in shape) for name, shape in variables.items()}
    path.write_text("".join(_NODE % one for one in dims.items()))
    return path


def _in_parts(rows: int) -> dict[str, tuple[int, ...]]:
    return {"wide/part_0": (4, 2), "wide/part_1": (rows - 4, 2), "w": (2,)}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A checkpoint with a variable of 10 rows, and one that no program cuts up."""
    return checkpoint(tmp_path / "c", {"wide": np.ones((10, 2), np.float32), "w": np.ones(2, np.float32)})


def _asked(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, Any]]:
    code = cli.main(["checkpoint", "--json", *map(str, words)])
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, told


def test_parts_that_make_up_another_shape_differ(
    tmp_path: Path, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A blind test: the page said that both have the same variables, with the partitioned ones left out."""
    code, told = _asked(capsys, saved, _graph(tmp_path / "g.pbtxt", _in_parts(12)))
    assert (code, told["same"], told["only_a"], told["only_b"]) == (1, False, [], [])
    (one,) = told["different"]
    assert (one["a"], one["change"], one["shape_a"], one["shape_b"]) == ("wide", "shape", [10, 2], [12, 2])


def test_the_counts_agree_where_all_is_the_same(
    tmp_path: Path, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = _graph(tmp_path / "g.pbtxt", _in_parts(10))
    assert _asked(capsys, saved, graph)[0] == 0
    assert cli.main(["checkpoint", str(saved), str(graph)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("2 variables") == 3 and "as the checkpoint holds them: 2 parts of wide." in shown


def test_parts_of_what_the_checkpoint_does_not_hold_are_the_graphs_alone(
    tmp_path: Path, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = {"other/part_0": (4, 2), "other/part_1": (6, 2)}
    code, told = _asked(capsys, saved, _graph(tmp_path / "g.pbtxt", {**_in_parts(10), **parts}))
    assert (code, [one["name"] for one in told["only_b"]]) == (1, list(parts))


def test_what_was_saved_part_by_part_is_compared_part_by_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arrays = {name: np.ones(shape, np.float32) for name, shape in _in_parts(10).items()}
    code, told = _asked(capsys, checkpoint(tmp_path / "c", arrays), _graph(tmp_path / "g.pbtxt", _in_parts(10)))
    assert (code, told["equal"], told["notes"]) == (0, 3, [])
    whole = _graph(tmp_path / "whole.pbtxt", {"wide": (10, 2), "w": (2,)})
    code, told = _asked(capsys, tmp_path / "c", whole)
    assert (code, len(told["only_a"]), [one["name"] for one in told["only_b"]]) == (1, 2, ["wide"])
