"""Contents of a recording's index that were changed on the disk: what its runs have in common."""

from __future__ import annotations

import json
import sqlite3
import zlib
from pathlib import Path


def damage_content(recording: Path, part: str) -> None:
    """Change a bit of each content that the first program of `recording` names under `part`, such as `sources`."""
    index = sqlite3.connect(recording / "index.sqlite")
    (program,) = index.execute("SELECT program FROM runs ORDER BY id").fetchone()
    named = json.loads(zlib.decompress(_packed(index, program)))[part]
    for number in named.values() if isinstance(named, dict) else [named]:
        packed = bytearray(_packed(index, number))
        packed[len(packed) // 2] ^= 1
        index.execute("UPDATE contents SET zlib = ? WHERE id = ?", (bytes(packed), number))
    index.commit()
    index.close()


def _packed(index: sqlite3.Connection, number: int) -> bytes:
    (packed,) = index.execute("SELECT zlib FROM contents WHERE id = ?", (number,)).fetchone()
    return bytes(packed)
