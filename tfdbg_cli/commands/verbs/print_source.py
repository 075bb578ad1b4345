"""`print_source`: a source file, with what each line made; after `run -p`, with the time that it took."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from tfdbg_cli.analysis.graph.nodes.annotation import nodes_by_line, output_slots
from tfdbg_cli.commands.asked.elsewhere import in_the_program
from tfdbg_cli.commands.asked.source_file import source_named, take_file
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link, tensor_link
from tfdbg_cli.commands.views.profiled_source import COST_TYPES, profiled_source
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.rows import Rows
from tfdbg_cli.document.source import highlighted
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.document.times import TIME_UNITS
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.tensors import EMPTY_STORE, TensorStore
from tfdbg_cli.model.units import count_text

_MOST = 10  # names behind one line


def _print_source(context: Context, options: argparse.Namespace) -> Document:
    take_file(options)
    path, source = source_named(context, options.source_file_path)
    begin = max(1, options.line_begin or options.init_line or 1)
    if begin > len(source):
        raise TfdbgError(f"{path} has {count_text(len(source), 'line')}; -b {begin} is behind its end.")
    profile = None if isinstance(context.stop, RunStart) else context.run.profile
    if profile is not None:
        return profiled_source(context, profile, path, source, begin, options)
    _refuse_profile_flags(context, options)
    return _annotated(context, path, source, begin, options)


def _refuse_profile_flags(context: Context, options: argparse.Namespace) -> None:
    given = {
        "--cost_type": options.cost_type,
        "--time_unit": options.time_unit,
        "-d": options.device_name_filter,
        "-n": options.node_name_filter,
        f"-t {options.op_type_filter}": isinstance(options.op_type_filter, str),
    }
    wrong = [flag for flag, value in given.items() if value]
    if wrong:
        where = in_the_program(context, "run -p")
        raise TfdbgError(f"{wrong[0]} is about a profile, and this run has none.", hint=f"{where} makes one.")


def _annotated(
    context: Context, path: str, source: Sequence[str], begin: int, options: argparse.Namespace
) -> Document:
    made = nodes_by_line(context.graph, context.tracebacks, path)
    store = EMPTY_STORE if isinstance(context.stop, RunStart) else context.run.tensors
    tensors = options.op_type_filter is not False
    names = {number: _names(context, store, nodes, tensors) for number, nodes in made.items()}
    colored = highlighted(source)
    rows: list[tuple[int, Span | None]] = []  # line of source, and a name made there (None: the line itself)
    for number in range(1, len(source) + 1):
        rows.append((number, None))
        rows += [(number, span) for span in _limited(names.get(number, []), number, path, options)]
    focus = next(i for i, (number, _) in enumerate(rows) if number == begin)
    count = sum(map(len, names.values()))
    what = "tensor" if tensors else "node"
    head = line(
        Span(path, Style.TITLE),
        f"  {count_text(len(source), 'line')}, {count_text(count, what)} made here",
    )
    digits = len(str(len(source)))

    def make(i: int) -> Line:
        number, span = rows[i]
        if span is None:
            return line(Span(f"{number:>{digits}}  ", Style.DIM), *colored[number - 1].spans)
        return line(" " * (digits + 6), span)

    def data() -> dict[str, Any]:
        numbered = enumerate(source, 1)
        lines = [
            {"line": i, "text": text, "made": _raw(context, store, made.get(i, ()), tensors)} for i, text in numbered
        ]
        return {"path": path, "line": begin, "lines": lines}

    return Document("source", (Text((head,)), Rows(len(rows), make)), data, f"source {path}", focus + 1)


def _raw(context: Context, store: TensorStore, nodes: Sequence[str], tensors: bool) -> list[str]:
    """The nodes, or their tensors, as they are called."""
    if not tensors:
        return list(nodes)
    return [str(TensorName(n, slot)) for n in nodes for slot in output_slots(context.graph, store, n)]


def _names(context: Context, store: TensorStore, nodes: Sequence[str], tensors: bool) -> list[Span]:
    """The nodes made on a line, or their tensors; what was captured leads to its value."""
    if not tensors:
        return [Span(name, Style.NAME, node_link(name)) for name in nodes]
    spans = []
    for name in nodes:
        for slot in output_slots(context.graph, store, name):
            tensor = str(TensorName(name, slot))
            found = store.named(name, slot)
            if found:
                link = tensor_link(store, found[0]) if len(found) == 1 else f"pt {quoted(tensor)}"
                spans.append(Span(tensor, Style.NAME, link))
            else:
                spans.append(Span(tensor, Style.DIM, node_link(name)))
    return spans


def _limited(spans: list[Span], number: int, path: str, options: argparse.Namespace) -> list[Span]:
    """At most `-m` names, and a link to all of them."""
    most = max(0, options.max_elements_per_line)
    left = len(spans) - most
    if left <= 0:
        return spans
    tensors = "-t " if options.op_type_filter is not False else ""
    more = Span(f"+{left}", Style.KEY, f"ps {tensors}-b {number} -m {len(spans)} {quoted(path)}")
    return [*spans[:most], more]


def _arguments() -> tuple[Argument, ...]:
    profile: dict[str, Any] = {"metavar": "REGEX", "default": ""}
    return (
        Argument(
            ("source_file_path",),
            "a file, or the last parts of its path",
            ArgumentKind.SOURCE,
            metavar="FILE",
            nargs="?",
        ),
        Argument(
            ("-t", "--tensors", "--op_type_filter"),
            "show tensors instead of nodes; with a profile: only op types like REGEX",
            ArgumentKind.OP_TYPE,
            metavar="REGEX",
            default=False,
            nargs="?",
        ),
        Argument(
            ("-m", "--max_elements_per_line"), "names behind a line, at most", metavar="N", type=int, default=_MOST
        ),
        Argument(("-b", "--line_begin"), "the line to show first", metavar="LINE", type=int),
        Argument(("--cost_type",), "profile: which time to show", choices=COST_TYPES, default=""),
        Argument(("--time_unit",), "profile: the unit of times", choices=TIME_UNITS, default=""),
        Argument(("-d", "--device_name_filter"), "profile: only devices like this", ArgumentKind.DEVICE, **profile),
        Argument(("-n", "--node_name_filter"), "profile: only nodes like this", ArgumentKind.NODE, **profile),
        Argument(("--init_line",), "the line to show first", metavar="LINE", type=int),
    )


COMMAND = Command(
    "print_source",
    ("ps",),
    "A source file, and what each line made.",
    _print_source,
    _arguments(),
    section="Source and time",
    details="""\
The last parts of a path are enough while they fit one file only. A node belongs to the innermost line of the file
that made it. After `run -p` each line shows the time that its nodes took.

Examples:
  ps train.py -b 120
  ps -t train.py
  ps train.py --cost_type op_time --time_unit ms""",
)
