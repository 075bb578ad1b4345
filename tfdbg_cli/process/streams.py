"""The standard streams of the program, to which we write: it may have closed them, or put objects of its own there.

A program that logs what it prints puts an object there that has `write` and perhaps `flush`, and nothing else. What
we say ourselves is none of that where the process was launched by us: `say_on` then names the stream for it.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

from tfdbg_cli.plain_text import harmless, in_ascii
from tfdbg_cli.process.interruptions import OUR_ERRORS_SUPPRESSED

_ours: TextIO | None = None  # where we say something, whatever the program has put in the place of standard error


def say_on(stream: TextIO | None) -> None:
    """Have `stream` as standard error from now on, for what we say; None for that of the program."""
    global _ours
    _ours = stream


def standard_error() -> TextIO | None:
    """Standard error for what we say; None where the program has closed it or has none."""
    stream = _ours or sys.stderr
    return None if is_closed(stream) else stream


def is_closed(stream: TextIO | None) -> bool:
    """Whether nothing can be written to `stream`, because it is closed or not there."""
    return stream is None or bool(getattr(stream, "closed", False))


def write(stream: TextIO, text: str) -> None:
    """Write `text`; where the encoding of `stream` cannot express it, our glyphs in ASCII and the rest as escapes."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = encoding_of(stream)
        stream.write(in_ascii(text).encode(encoding, "backslashreplace").decode(encoding))


def encoding_of(stream: TextIO) -> str:
    """The encoding of `stream`; ASCII where it tells none."""
    return getattr(stream, "encoding", None) or "ascii"


def flush(stream: TextIO) -> None:
    """Flush `stream`, if it knows how to."""
    done = getattr(stream, "flush", None)
    if done is not None:
        done()


def flush_output() -> None:
    """Let what Python still holds back of standard output and error go out.

    A closed or broken stream of the program's own holds nothing for us, and its error is not ours to raise.
    """
    for stream in (sys.stdout, sys.stderr):
        with OUR_ERRORS_SUPPRESSED:
            flush(stream)


def to_stderr(sentence: str) -> None:
    """Say `sentence` on standard error.

    What a terminal would obey is made visible: a sentence may name a path, and a path may be anything. Where standard
    error takes nothing, nothing is said: an error of its own must not become one of the program's.
    """
    stream = standard_error()
    if stream is not None:
        with OUR_ERRORS_SUPPRESSED:
            write(stream, f"tfdbg: {harmless(sentence)}\n")
            flush(stream)


def discard_output() -> None:
    """Throw away what is still to be written, lest the interpreter complain about it at its end.

    Where there is no standard output, or one that is no file, there is nothing to throw away.
    """
    if is_closed(sys.stdout):
        return
    with OUR_ERRORS_SUPPRESSED:
        descriptor = sys.stdout.fileno()
        nothing = os.open(os.devnull, os.O_WRONLY)
        if nothing != descriptor:  # which is free where the program has closed it
            os.dup2(nothing, descriptor)
            os.close(nothing)
