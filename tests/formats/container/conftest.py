"""Recordings are written past the page cache, which a file system in memory takes however it is aligned."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def on_disk() -> Iterator[Path]:
    """A folder on the disk, where those of other tests may lie in memory."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder).resolve()


@pytest.fixture
def tmp_path(on_disk: Path) -> Path:
    """An empty folder on the disk for one test."""
    return Path(tempfile.mkdtemp(dir=on_disk))
