"""The source file that a user named."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from tfdbg_cli.analysis.graph.nodes.annotation import find_source, no_such_source
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.vocabulary import vocabulary_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.sources import LostTracebacks

_PLACE = re.compile(r"^(?P<file>.+\.\w+):(?P<line>\d+)$")


def take_file(options: argparse.Namespace) -> None:
    """Read FILE:LINE, as places are shown, and `ps -t FILE`, which means tensors, as it always did.

    With a profile -t takes a regular expression.
    """
    if options.source_file_path is None and isinstance(options.op_type_filter, str):
        options.source_file_path, options.op_type_filter = options.op_type_filter, None
    if options.source_file_path is None:
        begin = "" if options.line_begin is None else f", as `ps FILE:{options.line_begin}`"
        raise TfdbgError(
            f"print_source needs a file{begin}.", hint="`ls` lists them; the last part of a path is enough."
        )
    place = _PLACE.match(options.source_file_path)
    if place is not None and options.line_begin is None:
        options.source_file_path, options.line_begin = place["file"], int(place["line"])


def source_named(context: Context, text: str) -> tuple[str, Sequence[str]]:
    """The path that `text` means, and the lines of that file."""
    paths = vocabulary_of(context.graph).sources(context.tracebacks)
    path = find_source(text, paths) or text
    source = context.sources.lines(path)
    if source is None:
        if path in paths:
            raise TfdbgError(
                f"The source of {path} is not at hand.",
                hint="It was moved since, or the recording did not keep it, or it is damaged there: `ni -t` shows the"
                " lines that are known, `tfdbg doctor` what is damaged.",
            )
        lost = context.tracebacks.why if isinstance(context.tracebacks, LostTracebacks) else ""
        raise no_such_source(text, paths, lost)
    return path, source
