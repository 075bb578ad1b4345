"""Several runs in one folder of dumps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.sample_run import run_end

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps.pile import add_to_pile
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.dumps.writer import write_dump


def _dump(place: Path, number: int) -> Path:
    run = run_end().run
    write_dump(replace(run, call=replace(run.call, number=number)), place, start_us=1_000_000)
    return place


def test_a_new_folder_has_all_that_the_dump_has(tmp_path: Path) -> None:
    dump = _dump(tmp_path / "dump", 3)
    add_to_pile(dump, tmp_path / "pile")
    found = [sorted(str(path.relative_to(root)) for path in root.rglob("*")) for root in (dump, tmp_path / "pile")]
    assert found[0] == found[1]


def test_runs_lie_beside_each_other_even_of_one_microsecond(tmp_path: Path) -> None:
    pile = _dump(tmp_path / "pile", 3)
    written = [path for path in pile.glob("_tfdbg_device_*/**/*_DebugIdentity_*") if path.is_file()]
    add_to_pile(_dump(tmp_path / "dump", 4), pile)
    both = read_dump(pile)
    assert len(both.tensors) == 2 * len(written) > 0
    assert not (pile / "_tfdbg_cli").exists()
    assert not list(pile.rglob("partial-*"))
    assert any(note.startswith("2 runs wrote into this folder") for note in both.notes)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    dump = _dump(tmp_path / "dump", 3)
    (tmp_path / "file").touch()
    with pytest.raises(TfdbgError, match="Cannot write"):
        add_to_pile(dump, tmp_path / "file" / "pile")
