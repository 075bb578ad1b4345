"""Writing to text streams that may be closed or know few characters."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from tfdbg_cli.document.glyphs import in_ascii
from tfdbg_cli.document.plain import harmless


def write(stream: TextIO, text: str) -> None:
    """Write `text`; where the encoding of `stream` cannot express it, our glyphs in ASCII and the rest as escapes."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(in_ascii(text).encode(encoding, "backslashreplace").decode(encoding))


def to_stderr(sentence: str) -> None:
    """Say `sentence` on standard error; a program may have closed it.

    What a terminal would obey is made visible: a sentence may name a path, and a path may be anything.
    """
    if sys.stderr is None or sys.stderr.closed:
        return
    write(sys.stderr, f"tfdbg: {harmless(sentence)}\n")
    sys.stderr.flush()


def discard_output() -> None:
    """Throw away what is still to be written, lest the interpreter complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
