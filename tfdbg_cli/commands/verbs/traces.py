"""`traces`: which tf.functions were traced how often, and which argument made each trace necessary."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tfdbg_cli.analysis.retracing.advice import advice
from tfdbg_cli.analysis.retracing.retracing import ArgumentDifference, Explained, explained
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.argument import QUERY_ARGUMENT
from tfdbg_cli.commands.query.plain_rows import PlainRows
from tfdbg_cli.commands.registry import LIVE, Argument, Command, Moment
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import source_link
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.document.wrapping import Labelled
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.traces import TracedCode, signature_text
from tfdbg_cli.model.units import count_text

_FIRST = 5  # rows of a function that are shown before the last one
_ADVICE = 3
_INDENT = 2


@dataclass(frozen=True, slots=True)
class _Trace:
    """The trace `number`, from 1, of `code`."""

    code: TracedCode
    number: int
    found: Explained

    @property
    def because(self) -> str:
        """What differs from the nearest earlier trace."""
        return "; ".join(one.text for one in self.found.differences) or "the first call"


@dataclass(frozen=True, slots=True)
class _Function:
    """A function with those of its traces that are shown, and all of them."""

    code: TracedCode
    everything: tuple[_Trace, ...]
    shown: tuple[_Trace, ...]

    @property
    def retraces(self) -> int:
        """How many traces there are that one trace for all calls would have made needless."""
        return sum(trace.found.is_retrace for trace in self.everything) + self.code.left_out


def _traces(context: Context, options: argparse.Namespace) -> Document:
    functions = _named(_all(context), options.name)
    everything = functions
    rows = [trace for function in functions for trace in function.everything]
    left = _ROWS.left(options.query, rows, COMMAND.spell(options, query=""))
    if options.query:
        admitted = {(id(row.code), row.number) for row in left.rows}
        functions = [_only(function, admitted) for function in functions]
        functions = [function for function in functions if function.shown]
    blocks: list[Block] = [Text((_head(everything), *left.head, EMPTY_LINE))]
    again = [function for function in functions if function.retraces or options.name or options.query]
    for function in again:
        blocks += _blocks(function, whole=bool(options.name))
    once = [function for function in functions if function not in again]
    if once:
        blocks += [Text((line(Span("Fine: not traced again", Style.HEADING)),)), _once(once)]
    return Document(
        "traces",
        tuple(blocks),
        lambda: {**_totals(everything), "functions": list(map(_data, functions)), **left.data},
        left.title(f"traces {options.name}" if options.name else "traces"),
    )


def _all(context: Context) -> list[_Function]:
    """The functions that the program called.

    Raises:
        TfdbgError: the stop is on a recording, which has none.

    """
    if isinstance(context.stop, Opened):
        raise TfdbgError(
            "A recording does not keep how often functions were traced.",
            hint="`traces` tells it at a prompt of the program: tfdbg run -c run -c traces SCRIPT",
        )
    if context.stop.traces is None:
        return []
    found = []
    for code in context.stop.traces.functions():
        rows = tuple(_Trace(code, number, one) for number, one in enumerate(explained(code), 1))
        found.append(_Function(code, rows, rows))
    return found


def _named(functions: list[_Function], name: str) -> list[_Function]:
    if not name:
        return functions
    found = [function for function in functions if function.code.name == name]
    if not found:
        hint = did_you_mean(name, [function.code.name for function in functions]) or "`traces` lists them."
        raise TfdbgError(f"No tf.function {name!r} was traced.", hint=hint)
    return found


def _only(function: _Function, admitted: set[tuple[int, int]]) -> _Function:
    shown = tuple(one for one in function.everything if (id(one.code), one.number) in admitted)
    return _Function(function.code, function.everything, shown)


_ROWS = PlainRows[_Trace](
    "a trace",
    lambda row: f"{row.code.name} {signature_text(row.found.trace.signature)} {row.because}",
    {"name": lambda row: row.code.name},
    {
        "calls": lambda row: row.found.trace.count,
        "seconds": lambda row: float("nan") if row.found.trace.seconds is None else row.found.trace.seconds,
    },
)


def _totals(functions: Sequence[_Function]) -> dict[str, Any]:
    traces = [trace.found.trace for function in functions for trace in function.everything]
    return {
        "traces": len(traces) + sum(function.code.left_out for function in functions),
        "retraces": sum(function.retraces for function in functions),
        "seconds": sum(trace.seconds or 0.0 for trace in traces if not trace.nested),
    }


def _head(functions: Sequence[_Function]) -> Line:
    if not functions:
        return line(Span("No tf.function was traced while tfdbg saw the calls.", Style.HINT))
    totals = _totals(functions)
    retraces = totals["retraces"]
    many = f"{count_text(len(functions), 'function')}, {count_text(totals['traces'], 'trace')}"
    again = Span(f", {count_text(retraces, 'retrace')}" if retraces else ", no retrace", _style(retraces))
    return line(Span(many, Style.TITLE), again, f", {_seconds_text(totals['seconds'])} of tracing")


def _style(retraces: int) -> Style:
    return Style.WARNING if retraces else Style.GOOD


def _blocks(function: _Function, *, whole: bool) -> Iterable[Block]:
    """A function that was traced more than once: its head, its traces, and what helps."""
    code, shown = function.code, function.shown
    blocks: list[Block] = [Text((_function_line(function),))]
    if shown and not whole:
        blocks.append(Labelled("  made for  ", signature_text(shown[0].found.trace.signature), label_width=12))
    rows = shown if whole or len(shown) <= _FIRST + 2 else (*shown[:_FIRST], shown[-1])
    blocks.append(_table(rows))
    hints = []
    if len(rows) < len(shown):
        all_of_them = Span(f"traces {quoted(code.name)}", Style.KEY, f"traces {quoted(code.name)}")
        hints.append(line(f"  {len(shown) - len(rows):,} more between them: ", all_of_them))
    if code.left_out:
        text = f"  {count_text(code.left_out, 'further trace')} not kept: there were too many."
        hints.append(line(Span(text, Style.WARNING)))
    if hints:
        blocks.append(Text(tuple(hints)))
    if whole:
        blocks += [Labelled(f"  #{one.number} ", _in_full(one), label_width=8) for one in shown]
    helps = advice(code, [one.found for one in function.everything])
    told = [one for at, one in enumerate(helps) if whole or at < _ADVICE or one.is_rest_of_data]
    blocks += [Labelled("  advice ", one.sentence, Style.HINT, 12) for one in told]
    if len(told) < len(helps):
        all_of_it = Span(f"traces {quoted(code.name)}", Style.KEY, f"traces {quoted(code.name)}")
        blocks.append(Text((line(f"  {count_text(len(helps) - len(told), 'more piece')} of advice: ", all_of_it),)))
    blocks.append(Text((EMPTY_LINE,)))
    return blocks


def _in_full(row: _Trace) -> str:
    signature = signature_text(row.found.trace.signature) or "no argument"
    return f"{signature}\n{row.because}" if len(row.found.differences) > 1 else signature


def _function_line(function: _Function) -> Line:
    code, traces = function.code, [row.found.trace for row in function.everything]
    calls = sum(trace.count for trace in traces)
    place = _place_text(code.file, code.line)
    seconds = sum(trace.seconds or 0.0 for trace in traces)
    many = (
        f"{count_text(len(traces) + code.left_out, 'trace')} in {count_text(calls, 'call')}, {_seconds_text(seconds)}"
    )
    name = Span(code.name, Style.HEADING, f"traces {quoted(code.name)}")
    where = (" ", Span(f"({place})", Style.LABEL, source_link(code.file, code.line))) if place else ()
    return line(name, *where, ": ", Span(many, _style(function.retraces)))


def _place_text(file: str, number: int) -> str:
    return f"{file.replace(chr(92), '/').rpartition('/')[2]}:{number}" if file else ""


def _seconds_text(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 100 else f"{seconds:,.0f} s"


_COLUMNS = (
    Column("", width=_INDENT - 1), Column("Trace", right=True), Column("Calls", right=True),
    Column("Seconds", right=True, drop=2), Column("Called at", drop=1, keep_end=True, least=10), Column("Because"),
)  # fmt: skip


def _table(rows: Sequence[_Trace]) -> Table:
    def row(at: int) -> Row:
        one = rows[at]
        trace = one.found.trace
        return (
            Span(""),
            Span(f"#{one.number}", Style.NUMBER),
            Span(f"{trace.count:,}", Style.NUMBER),
            _seconds_span(trace.seconds),
            _called_at(one),
            Span(one.because, Style.WARNING if one.found.is_retrace else Style.DIM),
        )

    return Table(_COLUMNS, len(rows), row)


def _seconds_span(seconds: float | None) -> Span:
    return Span("?", Style.DIM) if seconds is None else Span(f"{seconds:.3f}", Style.NUMBER)


def _called_at(row: _Trace) -> Span:
    place = row.found.trace.place
    if place is None:
        return Span("not seen", Style.DIM)
    return Span(_place_text(place.file, place.line), Style.LABEL, source_link(place.file, place.line))


_ONCE = (
    Column("", width=_INDENT - 1), Column("Function", keep_end=True, least=14), Column("Calls", right=True),
    Column("Seconds", right=True, drop=2), Column("Called at", drop=1, keep_end=True, least=10), Column("Made for"),
)  # fmt: skip


def _once(functions: Sequence[_Function]) -> Table:
    def row(at: int) -> Row:
        one = functions[at].everything[-1]  # of two, the first one created the variables
        trace = one.found.trace
        return (
            Span(""),
            Span(one.code.name, Style.NAME, f"traces {quoted(one.code.name)}"),
            Span(f"{trace.count:,}", Style.NUMBER),
            _seconds_span(trace.seconds),
            _called_at(one),
            Span(signature_text(trace.signature), Style.DIM),
        )

    return Table(_ONCE, len(functions), row)


def _data(function: _Function) -> dict[str, Any]:
    code = function.code
    helps = advice(code, [one.found for one in function.everything])
    return {
        "name": code.name,
        "file": code.file or None,
        "line": code.line or None,
        "traces": list(map(_trace_data, function.shown)),
        "left_out": code.left_out,
        "advice": [{"argument": one.argument, "text": one.text} for one in helps],
    }


def _trace_data(row: _Trace) -> dict[str, Any]:
    trace, cause = row.found.trace, row.found.cause
    return {
        "signature": signature_text(trace.signature),
        "count": trace.count,
        "seconds": trace.seconds,
        "cause": None if cause is None else _difference_data(cause),
        "differences": list(map(_difference_data, row.found.differences)),
        "file": None if trace.place is None else trace.place.file,
        "line": None if trace.place is None else trace.place.line,
    }


def _difference_data(difference: ArgumentDifference) -> dict[str, str]:
    return {"argument": difference.argument, "old": difference.old, "new": difference.new}


COMMAND = Command(
    "traces",
    (),
    "How often each tf.function was traced, and which argument made each trace necessary.",
    _traces,
    (
        Argument(("name",), "one function, with all of its traces", nargs="?", default="", metavar="NAME"),
        QUERY_ARGUMENT,
    ),
    moments=LIVE | {Moment.OPENED},
    details="""\
TensorFlow makes a trace (a graph) of a tf.function for each new kind of arguments, which takes its time; it says that
functions are traced often, and not why. This tells of each trace what it was made for, the line that called, how long
it took, how often it was called (the call that is stopped at counts), and what differs from the nearest earlier one.
Calls within a function that is being traced count once for that trace. Traces that were made before tfdbg saw the
calls, or by get_concrete_function, have no line and no time.

Examples:
  traces
  traces train_step         one function whole
  traces -q 'seconds>0.5'   the traces that took long
  traces -q float16         those with that word in their arguments""",
)
