"""Where dumps that are read back at once go: into memory, once it is known that they are small enough."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.sample_run import sample_run

pytestmark = pytest.mark.tf

from tfdbg_cli.capture.replay import dump_folders  # noqa: E402
from tfdbg_cli.capture.replay.dump_folders import DumpFolders  # noqa: E402

DUMP = sample_run().tensors


class Session:
    """Stands for one of TensorFlow's: it is only told from others."""


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stands for a file system in memory; the temporary files are elsewhere."""
    for name in ("memory", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(dump_folders, "free_disk", lambda place: 8 << 30)
    monkeypatch.setattr(dump_folders, "room_for_later", lambda: 1 << 30)
    return tmp_path / "memory"


def _place(folders: DumpFolders, session: Session) -> str:
    made = folders.new(session)
    try:
        assert made.path.is_dir()
        return made.path.parent.name
    finally:
        made.delete()


def test_the_first_dump_of_a_session_is_on_disk_and_a_later_one_in_memory(memory: Path) -> None:
    folders, session, other = DumpFolders(memory), Session(), Session()
    assert _place(folders, session) == "temporary"
    folders.took(session, DUMP)
    assert _place(folders, session) == "memory"
    assert _place(folders, other) == "temporary", "how much that takes is not known"


def test_a_large_dump_stays_on_disk(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders, session = DumpFolders(memory), Session()
    monkeypatch.setattr(dump_folders, "_MOST", 1 << 16)
    folders.took(session, DUMP)
    assert _place(folders, session) == "temporary"


@pytest.mark.parametrize(("name", "room"), [("free_disk", 64 << 20), ("room_for_later", 1 << 10)])
def test_without_room_it_stays_on_disk(memory: Path, monkeypatch: pytest.MonkeyPatch, name: str, room: int) -> None:
    """Containers have 64 MB there, if nobody asked for more; TensorFlow ends the program where no graph fits."""
    folders, session = DumpFolders(memory), Session()
    folders.took(session, DUMP)
    monkeypatch.setattr(dump_folders, name, lambda *_: room)
    assert _place(folders, session) == "temporary"


def test_without_a_file_system_in_memory_it_stays_on_disk(memory: Path) -> None:
    folders, session = DumpFolders(memory / "none"), Session()
    folders.took(session, DUMP)
    assert _place(folders, session) == "temporary"
