"""What comes from the graph is written once in a session root, and shared by its runs."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support import sample_run

from tfdbg_cli.formats.dumps.case_layout import CASE_DIRECTORY, PYTHON_GRAPH, TRACEBACKS
from tfdbg_cli.formats.dumps.graph_files import GraphFiles, graph_files
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Run

RUN = sample_run.sample_run(python_graph=sample_run.graph(GraphKind.PYTHON))


def written(root: Path, *names: str, shared: GraphFiles, run: Run = RUN) -> list[Path]:
    for name in names:
        write_dump(run, root / name, shared=shared)
    return [root / name / CASE_DIRECTORY for name in names]


def same(*folders: Path, name: str = TRACEBACKS) -> bool:
    return len({(folder / name).stat().st_ino for folder in folders}) == 1


def test_runs_of_a_root_share_the_files_of_the_graph(tmp_path: Path) -> None:
    shared = graph_files(RUN)
    folders = written(tmp_path, "run_1_0", "run_2_1", "run_3_2", shared=shared)
    (source,) = (folders[0] / "sources").iterdir()
    for name in (TRACEBACKS, PYTHON_GRAPH, f"sources/{source.name}"):
        assert same(*folders, name=name)
    assert not same(*folders, name="case.json")
    for folder in folders:
        read = read_dump(folder.parent)
        assert dict(read.tracebacks) == sample_run.TRACEBACKS
        assert read.python_graph is not None
        assert read.sources.lines("/home/ada/train.py") == sample_run.TRAIN_PY.splitlines()
        assert not read.notes


def test_another_root_gets_files_of_its_own(tmp_path: Path) -> None:
    shared = graph_files(RUN)
    one, *_ = written(tmp_path / "one", "run_1_0", shared=shared)
    two, *_ = written(tmp_path / "two", "run_1_0", shared=shared)
    assert not same(one, two)


def test_a_run_that_was_deleted_or_changed_is_not_linked_to(tmp_path: Path) -> None:
    shared = graph_files(RUN)
    one, two = written(tmp_path, "run_1_0", "run_2_1", shared=shared)
    shutil.rmtree(two.parent)
    (three,) = written(tmp_path, "run_3_2", shared=shared)
    assert (three / TRACEBACKS).read_bytes() == (one / TRACEBACKS).read_bytes()
    (three / TRACEBACKS).write_bytes(b"somebody was here")
    (four,) = written(tmp_path, "run_4_3", shared=shared)
    assert dict(read_dump(four.parent).tracebacks) == sample_run.TRACEBACKS


def test_where_nothing_can_be_linked_files_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    one, two = written(tmp_path, "run_1_0", "run_2_1", shared=graph_files(RUN))
    assert not same(one, two)
    assert (one / TRACEBACKS).read_bytes() == (two / TRACEBACKS).read_bytes()


def test_a_run_without_tracebacks_has_no_file_of_them(tmp_path: Path) -> None:
    bare = replace(RUN, tracebacks={}, python_graph=None)
    (folder,) = written(tmp_path, "run_1_0", shared=graph_files(bare), run=bare)
    assert {path.name for path in folder.iterdir()} == {"case.json", "feeds"}
