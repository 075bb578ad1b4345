"""Why a list of tensors is empty."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable

from tfdbg_cli.analysis.graph.nodes.needed import not_needed_text, program_graph, was_needed
from tfdbg_cli.analysis.graph.nodes.roles import Role, roles_of
from tfdbg_cli.analysis.watch.filters import our_filter
from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Opened
from tfdbg_cli.model.units import count_text, names_text

_MOST_ASKED = 20
_NO_TENSOR = [line("No tensor here is what the flags ask for.")]
_NONE_OF_THE_ROLE = {
    Role.GRADIENT: [line("No tensor of this run is known to be a gradient.")],
    Role.UPDATE: [line("No op of this run is known to update a variable.")],
}
_BY_MAGNITUDE = frozenset({"magnitude_above", "near_overflow"})


def explain_empty(context: Context, options: argparse.Namespace, *, unjudged: int) -> list[Line]:
    """Sentences that say why `lt` with these flags found nothing, and what to try.

    Of `unjudged` tensors nobody knows whether the query admits them.
    """
    run = context.run
    if not len(run.tensors):
        return [*_nothing_captured(context), *(line(Span(note, Style.HINT)) for note in run.notes)]
    if options.node_name_filter and not _any(options.node_name_filter, run.tensors.nodes()):
        return _no_such_node(context, options.node_name_filter)
    if options.tensor_filter:
        none = line(f"No tensor that the other flags admit passes {options.tensor_filter}.")
        return [none, *_integers_aside(context, options.tensor_filter)]
    if options.query:
        known = "is known to be" if unjudged else "here is"
        return [line(f"No tensor {known} what the query asks for.")]
    if options.role and Role(options.role) not in set(roles_of(run.graph).values()):
        return _NONE_OF_THE_ROLE.get(Role(options.role), _NO_TENSOR)
    return _NO_TENSOR


def _integers_aside(context: Context, name: str) -> list[Line]:
    """That a filter by magnitude passes over integers, and what asks those."""
    found = our_filter(context.filter(name))
    if found is None or found.name not in _BY_MAGNITUDE:
        return []
    query = f"lt -q 'absmax>{found.number:g}'" if found.name == "magnitude_above" else "lt -s worst"
    lists = Span(" asks integers, too." if found.name == "magnitude_above" else " lists integers, too.", Style.HINT)
    return [line(Span("Float and complex tensors were asked; ", Style.HINT), Span(query, Style.KEY, query), lists)]


def _any(regex: str, names: Iterable[str]) -> bool:
    search = re.compile(regex).search
    return any(search(name) for name in names)


def _nothing_captured(context: Context) -> list[Line]:
    run = context.run
    if run.error is not None:
        what = "No tensor was captured." if run.lacks else "The run failed before a value was captured."
        return [line(what), _hint("error_info", " shows the error.")]  # the notes tell why, where they know it
    if run.profile is not None:
        return [line("This run was timed, not captured."), _hint("lp", " lists the times.")]
    if run.call.kind is RunKind.CHECKPOINT:
        what = "No variable of this checkpoint can be read:" if run.notes else "This checkpoint holds no variable."
        return [line(what)]
    if run.notes and isinstance(context.stop, Opened):
        return [line("No tensor was captured.")]
    if len(run.graph) and all(node.op_type in {"Const", "NoOp"} for node in run.graph):
        return [
            line("TensorFlow computed everything beforehand (constant folding): no op ran."),
            *_python_hint(context),
        ]
    return [
        line("No tensor was captured: the run computed nothing, or every node lies outside the filters of `run`."),
        *_python_hint(context),
    ]


def _no_such_node(context: Context, regex: str) -> list[Line]:
    run = context.run
    shown = regex
    unneeded = _unneeded(context, regex)
    if unneeded:
        return [
            line(f"This run did not compute {names_text(unneeded)}:"),
            line(f"{not_needed_text(run)}."),
        ]
    in_graph = sum(1 for name in run.graph.names() if re.search(regex, name))
    if in_graph:
        verb = "matches" if in_graph == 1 else "match"
        text = f"{count_text(in_graph, 'node')} of the {run.graph.kind} {verb} {shown}, but no value was captured:"
        return [
            line(text),
            line("they have no output, did not run, or lie outside the filters of `run`."),
            *_python_hint(context),
        ]
    if run.python_graph is not None and _any(regex, run.python_graph.names()):
        text = f"Nodes of the Python graph match {shown}, but TensorFlow's optimizer folded, fused or pruned them."
        return [line(text), *_python_hint(context)]
    return [line(f"No node name matches {shown}."), line(Span("Case counts; (?i) in front ignores it.", Style.HINT))]


def _unneeded(context: Context, regex: str) -> list[str]:
    """The nodes that match, if the run needed none of them."""
    graph = program_graph(context.run)
    search = re.compile(regex).search
    found = [name for name in graph.names() if search(name)] if graph is not None else []
    sample = found[:_MOST_ASKED]
    return found if sample and all(was_needed(context.run, name) is False for name in sample) else []


def _python_hint(context: Context) -> list[Line]:
    if isinstance(context.stop, Opened) or context.run.graph.kind is GraphKind.PYTHON:
        return []  # nothing runs any more, or that is the graph shown
    return [_hint("run --graph python", " captures the graph as the program built it.")]


def _hint(command: str, rest: str) -> Line:
    return line(Span(command, Style.KEY, command), Span(rest, Style.HINT))
