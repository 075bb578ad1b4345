"""`ignore`: what counts as fine from here on, since the user says so."""

from __future__ import annotations

import argparse
from typing import Any

from tfdbg_cli.analysis.layers.layers import layers_of, scope_text
from tfdbg_cli.analysis.origin.dismissed import dismissed_in
from tfdbg_cli.analysis.origin.ignoring import ignored_cause, ignored_place
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.commands.asked.node_choice import find_node
from tfdbg_cli.commands.asked.watch_decision import watch_again, watched_again
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import LIVE, Argument, ArgumentKind, Command, Moment, Outcome
from tfdbg_cli.commands.views.ignored_places import place_data
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.labels import NO_LABEL, label_span
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.ignored import IgnoredBy, IgnoredPlace
from tfdbg_cli.model.runs import Opened, Run, RunStart
from tfdbg_cli.model.units import count_text


def _ignore(context: Context, options: argparse.Namespace) -> Outcome:
    if options.go and isinstance(context.stop, Opened):
        raise TfdbgError("--go runs the program on; this is a recording.", hint="Leave out --go.")
    place = _place(context, options)
    number = context.ignored.say(place)
    if options.go:
        assert not isinstance(context.stop, Opened)
        return watched_again(context.stop.watch)
    place = dict(context.ignored.numbered)[number]
    return _told(context, number, place)


def _place(context: Context, options: argparse.Namespace) -> IgnoredPlace:
    ways = [bool(options.node), bool(options.layer), options.cause]
    if sum(ways) > 1:
        raise TfdbgError("A node, --layer and --cause exclude each other.", hint="Ignore one after the other.")
    run = _run(context)
    if options.layer:
        layers = layers_of(context.graph)
        scopes = layers.resolve(options.layer)
        within = layers.tester(scopes)
        named = [node.name for node in context.graph if within(node.name)]
        name = scope_text(scopes[0]) if len(scopes) == 1 else options.layer.strip("/")
        return ignored_place(run, IgnoredBy.LAYER, name, named)
    if options.node:
        node = find_node(context, options.node).node
        return ignored_place(run, IgnoredBy.NODE, node.name, [node.name])
    origin = _origin(context, run)
    if options.cause:
        return ignored_cause(run, origin.cause, dismissed_in(run, context.ignored))
    return ignored_place(run, IgnoredBy.NODE, origin.name.node, [origin.name.node])


def _run(context: Context) -> Run:
    """The run looked at; before a run one without tensors."""
    stop = context.stop
    if isinstance(stop, RunStart):
        return Run(stop.call, graph=stop.graph, tracebacks=stop.tracebacks, sources=stop.sources)
    return context.run


def _origin(context: Context, run: Run) -> Origin:
    search = OriginSearch(run, dismissed=dismissed_in(run, context.ignored))
    found = search.first()
    if found is None:
        raise TfdbgError(
            "Nothing here is NaN or infinite that does not count as fine already.",
            hint="`ignore NODE` and `ignore --layer NAME` name something; `ignored` lists what counts as fine.",
        )
    return found if found.intended is not None else search.harmful(found)[0]


def _told(context: Context, number: int, place: IgnoredPlace) -> Document:
    more, stop = len(place.nodes) - len(place.named), context.stop
    what = f"{place.title} counts as fine from here on"
    lines: list[Line] = [line(label_span("Ignored"), Span(f"{what[0].upper()}{what[1:]}.", Style.TITLE))]
    if place.by is not IgnoredBy.NODE or more:
        nodes = count_text(len(place.named), "node")
        because = f", and {more:,} that {'is' if more == 1 else 'are'} bad because of it alone" if more else ""
        there = (
            "no origin is found there"
            if isinstance(stop, Opened)
            else "no watch looks at them, no origin is found there"
        )
        lines.append(line(NO_LABEL, f"{nodes}{because}: {there}."))
    outcome = len(set(place.held).difference(place.nodes))
    if outcome:
        come = "comes out of this run or is" if outcome == 1 else "come out of this run or are"
        fine = "no origin is found in this run" if isinstance(stop, Opened) else "watches look there again"
        told = f"{outcome:,} more that {come} written to variables: {fine}."
        lines.append(line(NO_LABEL, told))
    lines.append(EMPTY_LINE)
    on = ""
    if isinstance(stop, Opened):
        lines.append(_way("Next", "origin", "origin"))
    else:
        on = watch_again(stop.watch)
        lines.append(_way("Go on", on, on))
    back = f"ignored --withdraw {number}"
    lines.append(_way("Take back", back, back))

    def data() -> dict[str, Any]:
        return {**place_data(number, place), "go_on": on or None}

    return Document("ignore", (Text(tuple(lines)),), data, f"ignore {place.name}")


def _way(label: str, text: str, link: str) -> Line:
    return line(label_span(label), Span(text, Style.KEY, link))


COMMAND = Command(
    "ignore",
    (),
    "Let a node, a layer or a cause count as fine from here on.",
    _ignore,
    (
        Argument(("node",), "the node; without one that of the origin", ArgumentKind.NODE, metavar="NODE", nargs="?"),
        Argument(("--layer",), "every node of this layer or scope", ArgumentKind.LAYER, metavar="NAME", default=""),
        Argument(("--cause",), "all that the cause of the origin made, here and in runs to come", switch=True),
        Argument(("--go",), "and run on at once, as at the last watch", switch=True),
    ),
    moments=LIVE | {Moment.OPENED},
    section="Look",
    details="""\
What is NaN or infinite there, and what is so because of it alone, counts as fine: the watches of this program go on
past it in runs of the same function, session or loop, and `origin` looks for another one. Of a run in which something
comes out spoiled the values are looked at each time, so that nothing else is missed. Variables that it spoiled follow
from it in later runs; `ignored` names them. What makes NaN of an infinity
that counts as fine is another thing, which stops the watch. A cause is known again at other nodes too, in eager code
at the same line. `ignored` lists what counts as fine and takes it back; bundles keep it. In scripts
`run -f FILTER -fenn REGEX` leaves nodes out by name.

Examples:
  ignore attention/mask
  ignore --layer attention --go
  ignore --cause""",
    acts=True,
)
