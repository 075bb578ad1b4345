"""Writing what many rows of an index share: texts, and larger contents such as graphs and sources."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib


class SharedTexts:
    """Numbers of texts: each text stands in the index once."""

    def __init__(self, index: sqlite3.Connection) -> None:
        self._index = index
        self._known: dict[str, int] = {}
        self._new: list[str] = []

    def number(self, text: str) -> int:
        """The number of `text`."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = len(self._known) + 1
            self._new.append(text)
            # Lone surrogates are no UTF-8 to Python's binding; as bytes they come back as they were.
            self._index.execute(
                "INSERT INTO texts VALUES (?, CAST(? AS TEXT))", (found, text.encode("utf-8", "surrogatepass"))
            )
        return found

    def keep(self) -> None:
        """Note that all texts numbered by now are committed."""
        self._new.clear()

    def forget(self) -> None:
        """Drop the texts numbered since the last `keep`: they were rolled back."""
        for text in self._new:
            del self._known[text]
        self._new.clear()


class SharedContents:
    """Numbers of contents, each of which stands in the index once, compressed."""

    def __init__(self, index: sqlite3.Connection) -> None:
        self._index = index

    def number(self, content: bytes) -> int:
        """The number of `content`."""
        name = hashlib.sha256(content).hexdigest()
        found = self._index.execute("SELECT id FROM contents WHERE sha256 = ?", (name,)).fetchone()
        if found is not None:
            return int(found[0])
        cursor = self._index.execute(
            "INSERT INTO contents (sha256, size, zlib) VALUES (?, ?, ?)", (name, len(content), zlib.compress(content))
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid
