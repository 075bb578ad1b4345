"""The commands that were typed, kept from one program to the next."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from tfdbg_cli.paths import history_file
from tfdbg_cli.plain_files import kept_bytes, replace_kept


class History:
    """Commands in the order in which they were typed, no two equal ones in a row.

    With a `path` each new one is added to that file at once, so that several programs can share it. Nothing is
    written before something is typed. When the file cannot be read or written, `problem` says so in a sentence,
    and the history holds for this program only.
    """

    def __init__(self, entries: Iterable[str] = (), path: Path | None = None, length: int = 1000) -> None:
        self.problem = ""
        self._path = path
        self._length = max(0, length)
        self._entries: list[str] = []
        for entry in entries:
            self._remember(entry)

    @classmethod
    def load(cls, path: Path | None = None, length: int = 1000) -> History:
        """The last `length` commands of the file at `path` (default: the user's own)."""
        path = path or history_file()
        try:
            text = kept_bytes(path).decode("utf-8", "replace")
        except FileNotFoundError:
            return cls((), path, length)
        except OSError as error:
            history = cls((), None, length)
            history.problem = f"Cannot read the history in {path}: {error.strerror or error}."
            return history
        history = cls(text.splitlines(), path, length)
        if text.count("\n") > 2 * length > 0:
            history._shorten()
        return history

    @property
    def entries(self) -> Sequence[str]:
        """All commands, the oldest first."""
        return self._entries

    def add(self, command: str) -> None:
        """Keep `command`, unless it is empty or the same as the last one."""
        if self._remember(command):
            self._append(command=self._entries[-1])

    def matching(self, prefix: str) -> list[str]:
        """Different commands that begin with `prefix`, the newest first."""
        return list(dict.fromkeys(entry for entry in reversed(self._entries) if entry.startswith(prefix)))

    def _remember(self, command: str) -> bool:
        entry = " ".join(command.splitlines()).strip()
        if not entry or (self._entries and self._entries[-1] == entry) or not self._length:
            return False
        self._entries.append(entry)
        del self._entries[: -self._length]
        return True

    def _append(self, command: str) -> None:
        if self._path is None:
            return
        from tfdbg_cli.process.file_limit import file_limit  # most sessions begin without it

        flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_APPEND
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Commands may hold what is private to a user: others cannot read them.
            descriptor = os.open(self._path, flags, 0o600)
            with file_limit(), os.fdopen(descriptor, "a", encoding="utf-8", errors="replace") as file:
                file.write(f"{command}\n")
        except OSError as error:
            self._cannot_write(error)

    def _shorten(self) -> None:
        """Write the file anew with the commands that are kept."""
        assert self._path is not None
        try:
            text = "".join(f"{entry}\n" for entry in self._entries)
            replace_kept(self._path, text.encode("utf-8", "replace").decode())
        except OSError as error:
            self._cannot_write(error)

    def _cannot_write(self, error: OSError) -> None:
        self.problem = f"Cannot write the history to {self._path}: {error.strerror}."
        self._path = None
