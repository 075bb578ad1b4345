"""`tfdbg diff` of two files with graphs, which hold no values."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.graph_file_maker import graph_def

from tfdbg_cli.cli import main as cli


def _saved(path: Path, *, name: str = "x", op_type: str = "Identity") -> str:
    """The graph with an input of that name, and a last op of that type."""
    graph = graph_def()
    graph.node[0].name, graph.node[2].op = name, op_type
    graph.node[1].input[0] = name
    graph.node[2].input[1] = f"^{name}"
    path.write_bytes(graph.SerializeToString())
    return str(path)


def test_what_sets_graphs_apart_decides_the_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A blind test: the graphs were compared, and the code was 2 whether they were the same or not."""
    first, second = _saved(tmp_path / "a.pb"), _saved(tmp_path / "b.pb")
    assert cli.main(["diff", first, second, "--graphs"]) == 0
    shown = capsys.readouterr()
    assert "The graphs are the same.\n" in shown.out and "Could not" not in shown.out + shown.err
    other = _saved(tmp_path / "c.pb", op_type="Neg")
    assert cli.main(["diff", first, other, "--graphs"]) == 1
    shown = capsys.readouterr()
    assert "Identity" in shown.out and "Neg" in shown.out and shown.err == ""


def test_other_names_are_told_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = _saved(tmp_path / "a.pb"), _saved(tmp_path / "b.pb", name="given")
    assert cli.main(["diff", first, second, "--graphs"]) == 0
    assert "The graphs are the same, but for names.\n" in capsys.readouterr().out


def test_without_the_flag_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["diff", _saved(tmp_path / "a.pb"), _saved(tmp_path / "b.pb")]) == 2
    shown = capsys.readouterr()
    assert "Graphs hold no values: --graphs lists what sets them apart." in shown.out
    assert shown.err == "tfdbg: Could not compare: graphs hold no values. --graphs compares the graphs.\n"
