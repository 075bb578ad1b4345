"""The text of source files as this process knows it, and never that of another file."""

from __future__ import annotations

import linecache
import os
import tokenize
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tfdbg_cli.process.module_files import modules_with_files

_KEPT_ANSWERS = 64  # texts that came from no file
_MOST_BYTES = 4  # that a character takes in a file
_UNREADABLE = (OSError, SyntaxError, UnicodeDecodeError)  # what a file raises that cannot be read as Python


def text_lines(path: str) -> Sequence[str]:
    """The lines of `path` with their ends: of a file, an archive, a cell of a notebook; none where nobody knows them.

    For code that was compiled under the name of a file that is not there, linecache asks whoever loaded the module in
    which the code runs. That gives the text of the module.
    """
    found = linecache.getlines(path)
    entry = linecache.cache.get(path)
    if not found or entry is None or len(entry) < 2 or entry[1] is not None:  # else it has the time of a file
        return found
    return () if _is_of_another(path, "".join(found)) else found


def text_line(path: str, number: int) -> str:
    """Line `number` of `path`, counted from 1, without the blanks around it; empty where it is not known."""
    lines = text_lines(path)
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


@lru_cache(_KEPT_ANSWERS)
def _is_of_another(path: str, text: str) -> bool:
    """Whether `text` is that of a module that was loaded from another file than `path`."""
    modules = list(modules_with_files())
    if any(file == path for file, _ in modules):
        return False
    return any(_is_text_of(file, names, text) for file, names in modules)


def _is_text_of(file: str, names: Mapping[str, Any], text: str) -> bool:
    """Whether `text` is that of the module with these `names` in `file`, which may be a place in an archive."""
    try:
        size = os.stat(file).st_size  # noqa: PTH116  # asked of thousands of modules
    except OSError:
        return _told_by_loader(names) == text.splitlines()
    if not len(text) - 1 <= size <= _MOST_BYTES * len(text) + text.count("\n") + _MOST_BYTES:
        return False
    try:
        with tokenize.open(file) as source:
            return source.read().splitlines() == text.splitlines()
    except _UNREADABLE:
        return False


def _told_by_loader(names: Mapping[str, Any]) -> Sequence[str]:
    """The lines of the module with these `names` by what loaded it; none where that does not tell."""
    get_source = getattr(names.get("__loader__"), "get_source", None)
    if get_source is None:
        return ()
    try:
        return (get_source(names.get("__name__")) or "").splitlines()
    except (ImportError, *_UNREADABLE):
        return ()
