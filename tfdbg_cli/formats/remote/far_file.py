"""A file elsewhere, as its file system describes it: where it is, how long, and what tells it from a later one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

# What file systems say that changes with the content of a file, by their own names; with `mtime` there is no need for
# `created`, which of a file of this machine changes with its name, too.
_MARKS = ("ETag", "etag", "Content-MD5", "md5Hash", "generation", "mtime", "Last-Modified", "LastModified",
          "last_modified", "modified", "created")  # fmt: skip


@dataclass(frozen=True)
class FarFile:
    """The file at `path` of its file system: its `size` in bytes, -1 where that is not told, and its `marks`."""

    path: str
    size: int
    marks: Mapping[str, str]

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> FarFile:
        """The file that a file system describes so."""
        marks = {name: _plain(facts[name]) for name in _MARKS if facts.get(name)}
        if "mtime" in marks:
            marks.pop("created", None)
        size = facts.get("size")
        return cls(str(facts["name"]), -1 if size is None else int(size), marks)

    def is_still(self, other: FarFile) -> bool:
        """Whether `other`, which was described at another time, has the same content, as far as is told.

        One mark that is the same is enough: servers that stand for one another give different tags to one file, and
        a file that is written once more as it was has another date.
        """
        shared = self.marks.keys() & other.marks.keys()
        is_as_long = self.size == other.size or min(self.size, other.size) < 0
        return is_as_long and (not shared or any(self.marks[name] == other.marks[name] for name in shared))


def _plain(mark: Any) -> str:
    """A mark as it is compared: a list of files may tell a tag without quotes, or a date as seconds."""
    return str(mark.timestamp() if isinstance(mark, datetime) else mark).removeprefix("W/").strip('"')
