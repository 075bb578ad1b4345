"""The thread that writes a recording: whatever happens to it, the program's end does not wait for it in vain."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from support.ending import ends
from support.sample_run import sample_run

from tfdbg_cli.formats.container.background import BackgroundWriter
from tfdbg_cli.formats.container.writer import RecordingWriter


def test_a_recording_that_cannot_be_closed_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: after an error of SQLite the end of the program waited for a thread that was gone."""

    def close(writer: RecordingWriter) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(RecordingWriter, "close", close)
    said: list[str] = []
    writer = BackgroundWriter(RecordingWriter(tmp_path / "runs"), 1 << 20, said.append, patience=1000.0)
    with ends("closing a recording"):
        writer.add(sample_run(), 1)
        assert writer.close() == 0
    assert writer.failed and writer.written == 1
    assert said == ["OperationalError: disk I/O error. Nothing more is recorded; the program goes on."]
