"""`run_info`: what is about to run, or ran, and how the program can go on."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

from tfdbg_cli.analysis.scalar_results import scalar_results
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Command
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.call_rows import argument_data, call_blocks
from tfdbg_cli.commands.views.run_results import results_data
from tfdbg_cli.document.definitions import Definitions
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.jsonlines import exactness_data
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.runs import Estimate, Opened, Run, RunEnd, RunStart
from tfdbg_cli.model.units import bytes_text, count_text
from tfdbg_cli.ops.kinds import ENTER, LOOPS

_MANY_RUNS = 100_000  # more than anybody keeps
_NOT_RUN = (RunKind.GRAPH, RunKind.CHECKPOINT, RunKind.PROFILE)
_WITHOUT_GRAPH = (RunKind.CHECKPOINT, RunKind.PROFILE)
_CHOICES = (
    ("run -n", "run once without debugging; stop before the next run"),
    ("run -t 10", "stop at the end of the 10th run from here"),
    ("run -p", "run once and time every op"),
    ("continue", "run on; stop only at an error"),
    ("detach", "run on as if there were no debugger"),
)
_CHOICES_OF_SENT = (
    ("run -t 10", "stop at the 10th run from here"),
    ("continue", "go past all runs; Ctrl-C opens the prompt at the next one"),
    ("detach", "answer the program from now on, and keep nothing"),
)


def _run_info(context: Context, options: argparse.Namespace) -> Document:
    blocks: list[Block] = [Text((*_what(context), EMPTY_LINE))]
    if context.call.kind not in _WITHOUT_GRAPH:
        blocks += [*call_blocks(context), Text((EMPTY_LINE,))]
    if not isinstance(context.stop, Opened):
        blocks += [Text((line(Span("How to go on", Style.HEADING)),)), _choices(context), Text((EMPTY_LINE,))]
    looks = [] if isinstance(context.stop, RunStart) else [_looks("lt", "layers", "origin", "ls")]
    if not isinstance(context.stop, RunStart) and context.run.is_graph_alone:
        looks = [_looks("ln", "layers", "runs")]
    elif context.call.kind is RunKind.PROFILE:
        looks = [_looks("lp", "lp -s op_time -r", "runs")]
    else:
        looks = [_filters(context), *looks]
    blocks.append(Text(tuple(looks)))
    return Document("run_info", tuple(blocks), lambda: _data(context), context.call.title)


def _what(context: Context) -> list[Line]:
    call = context.call
    before = isinstance(context.stop, RunStart)
    lines = [
        line(
            Span("About to " if before else "" if call.kind in _NOT_RUN else _course(context), Style.TITLE),
            Span(call.title, Style.TITLE),
            Span(_failure(context), Style.ERROR),
            f" ({call.kind})" if call.kind not in _NOT_RUN else "",
        )
    ]
    thread = f" in thread {call.thread}" if call.thread not in {"", "MainThread"} else ""
    if call.kind not in _WITHOUT_GRAPH and (len(context.graph) or not _needs_no_graph(context)):
        lines.append(line(f"{context.graph.kind} of {count_text(len(context.graph), 'node')}{thread}"))
    if isinstance(context.stop, RunStart):
        turns = any(node.op_type in LOOPS | ENTER for node in context.graph)
        lines += _estimate(context.stop.estimate, turns=turns)
        lines += _watch_memory(call, context.stop.estimate, turns=turns)
        notes = (*call.notes, *context.stop.notes)
    else:
        if call.kind is RunKind.CHECKPOINT:
            lines.append(line(count_text(len(context.run.tensors), "variable")))
        elif call.kind not in _NOT_RUN and not _is_bare(context):
            lines.append(line(count_text(len(context.run.tensors), "tensor"), " captured"))
        lines += _exactness(context.run)
        doubt = "" if context.run.exactness is None else context.run.exactness.doubt  # told by the line above
        every = dict.fromkeys((*call.notes, *_stop_notes(context), *context.run.notes))  # a stop may repeat the run's
        notes = tuple(note for note in every if note != doubt)
    lines += [line(Span(note, Style.HINT)) for note in notes]
    lacking = "" if before else context.run.shortcomings
    return [*lines, line(Span(lacking, Style.WARNING))] if lacking else lines


def _needs_no_graph(context: Context) -> bool:
    """Whether a graph without nodes says nothing of the run that is looked at."""
    return context.call.kind is RunKind.EAGER or _is_bare(context)


def _is_bare(context: Context) -> bool:
    """Whether a stop behind a run looks at it though nothing was taken of it, as when an exception ends a program."""
    return not isinstance(context.stop, RunStart) and not len(context.run.tensors) and bool(context.run.lacks)


def _course(context: Context) -> str:
    """How far the run has come that is looked at."""
    return "In the middle of " if context.run.unfinished else "Done: "


def _failure(context: Context) -> str:
    """What ended the run that is looked at, or the program behind it; empty where nothing did."""
    error = None if isinstance(context.stop, RunStart) else context.run.error
    return "" if error is None else f" failed with {error.type_name}"


def _exactness(run: Run) -> list[Line]:
    exactness = run.exactness
    if exactness is None:
        return []
    return [line(Span(exactness.told(values=not run.lacks), Style.HINT if exactness.exact else Style.WARNING))]


def _estimate(estimate: Estimate | None, *, turns: bool) -> list[Line]:
    """What a full capture takes; `turns` says that a loop makes tensors in each of its turns, of which one counts."""
    if estimate is None:
        return []
    size = "a size that shapes do not tell" if estimate.nbytes is None else bytes_text(estimate.nbytes)
    unknown = f", {estimate.unknown:,} more of unknown shape" if estimate.unknown else ""
    over = estimate.nbytes is not None and estimate.nbytes > estimate.budget
    told = ", of loops one turn; each further one adds as much" if turns else ""
    text = (
        f"A full capture takes about {size} ({count_text(estimate.tensors, 'tensor')}{unknown}{told}); "
        f"the budget is {bytes_text(estimate.budget)} of {estimate.medium}"
    )
    if not over:
        return [line(f"{text}.")]
    hint = "Narrow it with `run --node_name_filter`, raise the budget with `config set`, or use `run --force`."
    return [line(Span(f"{text}: too much.", Style.WARNING)), line(Span(hint, Style.HINT))]


def _filters(context: Context) -> Line:
    shown = _first_filters(context)
    names = [Span(name, Style.NAME) for name in shown]
    more = len(context.filters) - len(shown)
    rest: list[Span | str] = [", and ", Span(f"{more} more", Style.KEY, "filters")] if more else []
    return line(Span("Filters: ", Style.LABEL), *_joined(names), *rest)


def _first_filters(context: Context) -> list[str]:
    """The filter that most people want, and those that the program added."""
    return [name for name in context.filters if name == "has_inf_or_nan" or name not in BUILT_IN_FILTERS]


def _watch_memory(call: Call, estimate: Estimate | None, *, turns: bool) -> list[Line]:
    """What a watch takes: to make a run again, and to keep the values of many."""
    if estimate is None or estimate.medium != "memory" or not estimate.nbytes:
        return []
    room = int(estimate.budget // estimate.nbytes)
    runs = f"{room - 1:,} runs" if room <= _MANY_RUNS else "as many runs as you like"
    most = "at most " if turns and room <= _MANY_RUNS else ""
    kept = f"--keep has room for {most}{runs}" if room > 1 else "--keep has no room for any"
    held = _held(call)
    holds = f" holds {bytes_text(held)} of arguments and variables of each run to make it again" if held else ""
    return [line("A watch (", Span("run -f", Style.KEY), f"){holds}{'; ' if held else ': '}{kept}.")]


def _held(call: Call) -> int:
    """Bytes of the arguments and variables of a function, as far as their shapes tell."""
    total = 0
    for argument in call.arguments:
        element = element_type_named(argument.dtype)
        if element is not None and element.itemsize and argument.shape is not None and None not in argument.shape:
            total += element.itemsize * math.prod(length or 0 for length in argument.shape)
    return total


def _choices(context: Context) -> Definitions:
    names = _first_filters(context)
    until = [(f"run -f {quoted(name)}", f"run until a tensor passes {name}") for name in names]
    if isinstance(context.stop, RunEnd) and context.stop.sent:
        choices = (("run", "stop at the next run that arrives"), *until, *_CHOICES_OF_SENT)
    else:
        which = "this" if isinstance(context.stop, RunStart) else "the next"
        choices = (("run", f"capture {which} run and stop at its end"), *until, *_CHOICES)
    pairs = tuple((Span(command, Style.KEY, command), Span(meaning)) for command, meaning in choices)
    return Definitions(pairs, indent="  ")


def _looks(*commands: str) -> Line:
    links = [Span(command, Style.KEY, command) for command in commands]
    return line(Span("Look: ", Style.LABEL), *_joined(links))


def _joined(spans: list[Span]) -> list[Span | str]:
    parts: list[Span | str] = []
    for span in spans:
        parts += [", ", span] if parts else [span]
    return parts or ["none"]


def _stop_notes(context: Context) -> Sequence[str]:
    """What was done at the stop; it is of no other run that is looked at there."""
    stop = context.stop
    return () if isinstance(stop, RunEnd) and context.run is not stop.run else stop.notes


def _run_notes(run: Run) -> tuple[str, ...]:
    return (*run.notes, run.shortcomings) if run.shortcomings else tuple(run.notes)


def _data(context: Context) -> dict[str, Any]:
    call, stop = context.call, context.stop
    estimate = stop.estimate if isinstance(stop, RunStart) else None
    notes = (
        stop.notes
        if isinstance(stop, RunStart)
        else tuple(dict.fromkeys((*_stop_notes(context), *_run_notes(context.run))))
    )
    return {
        "number": call.number,
        "call": str(call.kind),
        "title": call.title,
        "fetches": list(call.fetches),
        **({} if isinstance(stop, RunStart) else {"results": results_data(scalar_results(context.run))}),
        "targets": list(call.targets),
        "feeds": list(call.feeds),
        "function": call.function or None,
        "arguments": argument_data(call),
        "thread": call.thread,
        "graph": str(context.graph.kind),
        "nodes": len(context.graph),
        "notes": [*call.notes, *notes],
        **({} if isinstance(stop, RunStart) else exactness_data(context.run.exactness, values=not context.run.lacks)),
        "estimate": estimate
        and {
            "tensors": estimate.tensors,
            "nbytes": estimate.nbytes,
            "unknown": estimate.unknown,
            "budget": estimate.budget,
            "medium": estimate.medium,
        },
        "filters": list(context.filters),
    }


COMMAND = Command(
    "run_info",
    ("ri",),
    "What is about to run, or ran, and how to go on.",
    _run_info,
)
