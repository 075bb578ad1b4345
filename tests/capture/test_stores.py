"""Stores that are made of the tensors of others: what lies in a dump is kept when the dump is deleted."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.dump_maker import small_dump

from tfdbg_cli.capture.stores import joined, lies_in_files, without_files
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.model.gathered import PartOfStore
from tfdbg_cli.model.tensors import MemoryTensorStore
from tfdbg_cli.model.values import NoValue


@pytest.mark.parametrize("way", ["alone", "joined", "in part"])
def test_a_run_that_outlives_its_dump_has_all_values(tmp_path: Path, way: str) -> None:
    """A blind test: a recording lost values at random of dumped runs with variables beside what was dumped."""
    run = read_dump(small_dump(tmp_path / "dump"))
    dump, nothing = run.tensors, MemoryTensorStore([], [])
    rows = list(range(len(dump)))
    tensors = {"alone": dump, "joined": joined(nothing, dump), "in part": PartOfStore(dump, rows)}[way]
    run = replace(run, tensors=tensors)
    assert lies_in_files(run)
    kept = without_files(run)
    shutil.rmtree(tmp_path / "dump")
    assert not lies_in_files(kept)
    values = [kept.tensors.value(row) for row in range(len(kept.tensors))]
    assert len(values) == 4 and not any(isinstance(value, NoValue) for value in values)
    assert np.array_equal(values[0], [1, 2])
