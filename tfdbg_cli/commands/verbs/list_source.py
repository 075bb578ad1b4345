"""`list_source`: the files that made the nodes of the graph."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from tfdbg_cli.analysis.graph.nodes.annotation import SourceFile, source_files
from tfdbg_cli.commands.asked.patterns import pattern, search_text
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command
from tfdbg_cli.commands.views.links import source_link
from tfdbg_cli.commands.views.made_at import why_no_traceback
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.sources import LostTracebacks
from tfdbg_cli.model.tensors import EMPTY_STORE
from tfdbg_cli.model.units import count_text

_COLUMNS = (
    Column("Nodes", right=True),
    Column("Tensors", right=True, drop=2),
    Column("Dumps", right=True, drop=1),
    Column("First line", right=True),
    Column("Path"),
)
_ROWS = PlainRows[SourceFile]("a source file", lambda file: file.path, {}, {"tensors": lambda file: file.tensors})


def _list_source(context: Context, options: argparse.Namespace) -> Document:
    store = EMPTY_STORE if isinstance(context.stop, RunStart) else context.run.tensors
    wanted = pattern(options.path_filter)
    nodes = search_text(options.node_name_filter)
    files = [
        file for file in source_files(context.graph, context.tracebacks, store, nodes) if wanted.search(file.path)
    ]
    left = _ROWS.left(options.query, files, COMMAND.spell(options, query=""))
    files = list(left.rows)
    own = [file for file in files if not file.library]
    libraries = [file for file in files if file.library]
    blocks: list[Block] = [
        *([Text((*left.head, EMPTY_LINE))] if options.query else []),
        *_table("of your program", own, Style.NAME),
        Text((EMPTY_LINE,)),
        *_table("of libraries", libraries, Style.DIM),
    ]
    if not files:
        blocks.append(Text((EMPTY_LINE, line(Span(_why_none(context, options), Style.HINT)))))
    data = {"files": [asdict(file) for file in files], **left.data}
    return Document("sources", tuple(blocks), lambda: data, left.title("source files"))


def _why_none(context: Context, options: argparse.Namespace) -> str:
    narrowed = options.path_filter or options.node_name_filter or options.query
    if not context.tracebacks or (isinstance(context.tracebacks, LostTracebacks) and not narrowed):
        why = why_no_traceback(context.tracebacks, context.call)
        told = context.call.kind is RunKind.FUNCTION or isinstance(context.tracebacks, LostTracebacks)
        rest = "" if told else ": a dump made by TensorFlow itself keeps none"
        return f"{why[0].upper()}{why[1:]}{rest}."
    return "No file passes the filters." if narrowed else "No node has a file."


def _table(whose: str, files: Sequence[SourceFile], style: Style) -> list[Block]:
    heading = Text((line(Span(f"{count_text(len(files), 'source file')} {whose}", Style.HEADING)),))
    if not files:
        return [heading]

    def row(i: int) -> Row:
        file = files[i]
        link = source_link(file.path, file.first_line)
        number = Style.NUMBER if style is Style.NAME else Style.DIM
        return (
            Span(f"{file.nodes:,}", number),
            Span(f"{file.tensors:,}", number),
            Span(f"{file.dumps:,}", number),
            Span(str(file.first_line), number, link),
            Span(file.path, style, link),
        )

    return [heading, Table(_COLUMNS, len(files), row)]


COMMAND = Command(
    "list_source",
    ("ls",),
    "The source files that made the nodes.",
    _list_source,
    (
        Argument(("-p", "--path_filter"), "only paths like this", ArgumentKind.SOURCE, metavar="REGEX", default=""),
        Argument(
            ("-n", "--node_name_filter"),
            "only files that made nodes like this",
            ArgumentKind.NODE,
            metavar="REGEX",
            default="",
        ),
        QUERY_ARGUMENT,
    ),
    section="Source and time",
    details="""\
A node counts for every file in its creation stack. Installed packages, Keras among them, and Python's own
library stand apart. Regexes search anywhere.

Examples:
  ls
  ls -p train -n '^loss/'
  ls -q 'train tensors>10'""",
)
