"""Where nodes were made: frames of the program that built the graph, and the text of its files."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Frame:
    """One call on the way to a node's creation; `line` is 1-based."""

    file: str
    line: int
    function: str
    text: str = ""


_LONGEST_SOURCE = 1 << 26  # bytes
_KEPT_ANSWERS = 1 << 12

Traceback = tuple[Frame, ...]  # outermost call first, as Python prints it


class LostTracebacks(Mapping[str, Traceback]):
    """The tracebacks of a run whose recording keeps them and can no longer be read there, but for those in `known`.

    `why` says in a clause what is lost.
    """

    def __init__(
        self, why: str = "the tracebacks of this run cannot be read", known: Mapping[str, Traceback] | None = None
    ) -> None:
        self.why = why
        self._known = {} if known is None else known

    def __getitem__(self, name: str) -> Traceback:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


# Installed packages and the standard library are machinery, except examples: those are read as programs. What Cython
# compiled names its file as it was called where it was built, such as numpy/random/mtrand.pyx.
_LIBRARY = re.compile(
    r"(^|/)(site-packages|dist-packages)/|(^|/)lib/python3\.\d+/|^<frozen |(^|/)__autograph_generated_file"
    r"|(^|/)tfdbg_cli/(?!examples/)|(^|/)bin/tfdbg$|^[^/<:]+(/[^/:]+)*\.pyx$"
)
_PROGRAM = re.compile(r"(^|/)(examples|tutorials)/|_test\.py$")
# TensorFlow's and Keras' own calls between a program and the function that it called.
_MACHINERY = re.compile(r"(^|/)(autograph/.*|(traceback_utils|dispatch)\.py)$")


@lru_cache(maxsize=_KEPT_ANSWERS)  # asked of each call that led to each node, and they are in a few files
def is_library(path: str) -> bool:
    """Whether `path` belongs to an installed package (tensorflow, keras, …) and not to the user's program."""
    normal = path.replace("\\", "/")
    return bool(_LIBRARY.search(normal)) and not _PROGRAM.search(normal)


def user_frame(traceback: Traceback) -> Frame | None:
    """The innermost frame of the user's own code; without one, None."""
    for frame in reversed(traceback):
        if not is_library(frame.file):
            return frame
    return None


def library_function(traceback: Traceback) -> str:
    """The name of the function of a library that the innermost frame of the user's own code called, if any."""
    function = ""
    for frame in reversed(traceback):
        if not is_library(frame.file):
            return function
        if not _MACHINERY.search(frame.file.replace("\\", "/")):
            function = frame.function
    return function


class Sources(Protocol):
    """The text of source files."""

    def lines(self, path: str) -> Sequence[str] | None:
        """The lines of `path` without line ends, or None when the file is not at hand."""
        ...


class LiveSources:
    """Source files of the running program: from disk, notebooks and zip archives by way of linecache."""

    def lines(self, path: str) -> Sequence[str] | None:
        if not _may_be_read(path):
            return None
        from tfdbg_cli.process.source_text import text_lines  # a recording has its own

        return [line.rstrip("\n") for line in text_lines(path)] or None


def _may_be_read(path: str) -> bool:
    """Whether to ask linecache for `path`: a pipe or a device would never end. What is no file it may know itself."""
    try:
        facts = Path(path).stat()
    except OSError:
        return True
    except ValueError:  # no file can be called so
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_size <= _LONGEST_SOURCE
