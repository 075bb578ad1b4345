"""`origin`: where a run first went wrong, from what, and what helps."""

from __future__ import annotations

import argparse
from dataclasses import replace

from tfdbg_cli.analysis.graph.nodes.feeds import fed_array
from tfdbg_cli.analysis.origin.by_health import tells_health_alone
from tfdbg_cli.analysis.origin.dismissed import dismissed_in
from tfdbg_cli.analysis.origin.finding import Finding, Passed, look_for, passed_by
from tfdbg_cli.analysis.origin.offending import MOST_ELEMENTS
from tfdbg_cli.analysis.origin.origin_found import OnIntended
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.commands.asked.arguments import excluded_nodes
from tfdbg_cli.commands.asked.patterns import search_text
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import moment_of
from tfdbg_cli.commands.registry import LIVE, LOOKING, Argument, Command, Moment
from tfdbg_cli.commands.views.failure import failure_lines
from tfdbg_cli.commands.views.given_instead import given_instead, pending_instead
from tfdbg_cli.commands.views.links import tensor_link
from tfdbg_cli.commands.views.origin.around import after_line, ignored_blocks, intended_blocks
from tfdbg_cli.commands.views.origin.by_health import origin_by_health
from tfdbg_cli.commands.views.origin.data import nothing_data, origin_data
from tfdbg_cli.commands.views.origin.elements import MOST_LISTED
from tfdbg_cli.commands.views.origin.origin_list import origin_list
from tfdbg_cli.commands.views.origin.over_runs import growth_over_runs
from tfdbg_cli.commands.views.origin.page import OriginPage
from tfdbg_cli.commands.views.origin.since import since_of
from tfdbg_cli.commands.views.run_health import LookedAt
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.model.units import count_text

_WITH_NAN = ("float", "bfloat", "complex")  # beginnings of the names of dtypes that can hold it
_ELEMENTS_SHOWN = 3


def _origin(context: Context, options: argparse.Namespace) -> Document:
    run = context.run
    most = _ELEMENTS_SHOWN if options.max_elements is None else options.max_elements
    if most < 1:
        raise TfdbgError(f"-m {most} shows no element.", hint=f"Without -m it is {_ELEMENTS_SHOWN}.")
    if most > MOST_LISTED:
        raise TfdbgError(f"-m {most} is too many: at most {MOST_LISTED:,} are shown.", hint="`pt` shows the tensor.")
    if tells_health_alone(run):
        return origin_by_health(context, options, nothing_data(passed_by(_search_of(context, options))))
    if options.all:
        return _every_origin(run, _search_of(context, options))
    found = _finding_of(context, options)
    if isinstance(found, Passed):
        if run.lacks:
            return _unknown(run, found)
        return _all_fine(context, found, options)
    return _one_origin(context, options, found, most)


def _one_origin(context: Context, options: argparse.Namespace, found: Finding, most: int) -> Document:
    """What was `found`, and as many as `most` of its elements."""
    run = context.run
    context.memory.origins[context.current] = found.origin
    since = since_of(context, found.origin)
    grew = growth_over_runs(context, found.origin)
    moment = moment_of(context)
    page = OriginPage(
        run,
        found,
        since,
        grew,
        most,
        after=after_line(found.after, options, listed=moment is not Moment.STEPPING),
        live=moment in LIVE,
        stays_bad=_stays_bad(context),
    )
    blocks = page.blocks()
    if found.origin.intended is not None:
        blocks = (Text((*_nothing_wrong(context), EMPTY_LINE)), *blocks)
    said = given_instead(context, [str(found.origin.name)])
    if said:
        blocks = (Text((*said, EMPTY_LINE)), *blocks)
    told = MOST_ELEMENTS if options.max_elements is None else most
    return Document(
        "origin",
        blocks,
        lambda: origin_data(run, found, since, grew, told),
        f"origin {found.origin.name}",
    )


def _search_of(context: Context, options: argparse.Namespace) -> OriginSearch:
    """The search through the run looked at that `options` ask for."""
    return OriginSearch(
        context.run,
        nan_only=options.nan,
        exclude_node_names=search_text(options.filter_exclude_node_names),
        benign=OnIntended(options.benign),
        dismissed=dismissed_in(context.run, context.ignored),
    )


def _finding_of(context: Context, options: argparse.Namespace) -> Finding | Passed:
    """The origin of the run looked at; where there is none, what the search went by.

    What was found is kept by all that it depends on: the run with as many tensors as it has by now, the options, and
    what counts as fine by word. What could not be read may be there when it is asked for again.
    """
    run, found = context.run, context.memory.findings
    words = options.nan, options.filter_exclude_node_names, options.benign
    key = (context.current, id(run.change), len(run.tensors), dismissed_in(run, context.ignored), *words)
    if key in found:
        return found[key]
    finding = look_for(run, _search_of(context, options))
    if not (finding.passed if isinstance(finding, Finding) else finding).unread:
        context.memory.keep_finding(key, finding)
    return finding


def _stays_bad(context: Context) -> bool:
    """Whether the program goes on with the variables as the run left them, though a watch stopped for it."""
    end = context.stop
    if not isinstance(end, RunEnd) or end.hit is None or end.run.call.kind is RunKind.EAGER:
        return False  # of what ran eagerly the state is not held
    return not (isinstance(end.watch, RunUntil) and end.watch.skip_update)


def _nothing_wrong(context: Context) -> list[Line]:
    """That all that is not finite in the run looks intended, and in which run something is wrong."""
    fine = line(
        Span(f"Nothing is wrong in {_this_run(context)}: what is not finite in it looks intended.", Style.GOOD)
    )
    return [fine, *_elsewhere(context)]


def _this_run(context: Context) -> str:
    """What to call the run looked at: one that was made with other values has the number of the program's."""
    if context.asks_what_if:
        return "the run with other values"
    return f"run #{context.run.call.number}" if len(context.runs) > 1 else "this run"


def _elsewhere(context: Context) -> list[Line]:
    """Which other run to look at, where there are others."""
    others = len(context.runs) - 1
    if not others or context.stepper:
        return []
    found = LookedAt(context, range(len(context.runs_of_program)))
    if found.first_bad is not None:
        return found.head()
    there = f" looks through the {count_text(others, 'other run')}, too."
    return [line(Span("alerts", Style.KEY, "alerts"), Span(there, Style.HINT))]


def _looked_at(run: Run, unread: int) -> str:
    """How many values were looked at; where some were not read, only those count that could be bad and were."""
    tensors, feeds = len(run.tensors) - unread, len(run.call.feeds)
    if unread:
        tensors -= sum(not run.tensors[row].dtype.startswith(_WITH_NAN) for row in range(len(run.tensors)))
        feeds = sum(fed_array(value) is not None for value in run.call.feeds.values())
    return f"{count_text(tensors, 'tensor')} and {count_text(feeds, 'feed')}" if tensors or feeds else "nothing of it"


def _unread_line(run: Run, unread: int, first: int) -> Line:
    """How many tensors could not be read, and what says why of the one at row `first`."""
    why = tensor_link(run.tensors, first)
    return line(
        f"{count_text(unread, 'tensor')} could not be read. Why is told of the first by ", Span(why, Style.KEY, why)
    )


def _all_fine(context: Context, passed: Passed, options: argparse.Namespace) -> Document:
    run = context.run
    where = "what was computed so far" if context.stepper else _this_run(context)
    what = "NaN" if options.nan else "NaN or infinity"
    unread = passed.unread
    meant = " or ".join(word for word, there in (("intended", passed.intended), ("ignored", passed.ignored)) if there)
    but = f" that is not {meant}" if meant else ""
    lines = [line(Span(f"No {what} in {where}{but}.", Style.GOOD))]
    if run.error is not None:
        lines = [line(Span(f"No {what}{but} in what is known of this run, which failed.", Style.WARNING))]
    if unread:
        lines = [line(Span(f"No {what}{but} in what could be read of this run.", Style.WARNING))]
    lines.append(line(f"Looked at {_looked_at(run, unread)}."))
    if passed.first_unread is not None:
        lines.append(_unread_line(run, unread, passed.first_unread))
    if run.shortcomings:
        lines.append(line(Span(run.shortcomings, Style.WARNING)))
    lines += pending_instead(run)
    if options.filter_exclude_node_names:
        lines.append(line(f"Left out: nodes that match {options.filter_exclude_node_names}."))
    if not len(run.tensors):
        lines.append(line(Span("This run captured no tensors: `run` captures the next one.", Style.HINT)))
    lines += _elsewhere(context)
    lines += failure_lines(run)
    around = (*intended_blocks(run, passed.intended), *ignored_blocks(passed.ignored))
    return Document("origin", (Text(tuple(lines)), *around), lambda: nothing_data(passed), "origin")


def _unknown(run: Run, passed: Passed) -> Document:
    """Nothing bad is among the few values that there are; what the run computed is missing."""
    lines = (
        line(Span("Where it began cannot be told: the values of this run are missing.", Style.WARNING)),
        line(run.lacks),
        *failure_lines(run),
    )
    return Document("origin", (Text(lines),), lambda: {**nothing_data(passed), "missing": run.lacks}, "origin")


def _every_origin(run: Run, search: OriginSearch) -> Document:
    found = search.all()
    if not found and run.lacks:
        none = _unknown(run, passed_by(search))
        return replace(none, kind="origins", data=lambda: {"tensors": [], "missing": run.lacks}, title="origins")
    return origin_list(run, search, found)


COMMAND = Command(
    "origin",
    (),
    "Where the run first went wrong: the first tensor not finite although all its inputs are.",
    _origin,
    (
        Argument(("--nan",), "look for NaN only; infinities (a mask of -inf) pass", switch=True),
        excluded_nodes("nodes whose values count as fine"),
        Argument(("-m", "--max_elements"), "how many elements to show", metavar="N", type=int),
        Argument(
            ("--benign",),
            "what looks intended (a mask of -inf): tell it last, skip it, or show it like others",
            metavar="|".join(OnIntended),
            choices=tuple(map(str, OnIntended)),
            default=OnIntended.LAST,
        ),
        Argument(("--all",), "list every such tensor, not only the first", switch=True),
    ),
    moments=LOOKING,
    values=True,
    details=f"""\
Inputs are looked up in the run along the graph: through Identity and Switch, across devices, and in loops as they
were at that iteration. An input that was folded away or not captured is said to be so.

Infinities look intended where a table of habits knows them: a mask of -inf before a softmax, the start of a running
minimum; so do infinities and NaN that tf.where replaces, and a mask that other rows of the batch take without harm
while some go bad. They count as fine as long as nothing comes of them; the watch still stops at them.

Of an op that computes a gradient the line of the op of the forward pass is shown, since that one can be mended.

`After` counts the tensors that this run shows behind the origin, as they were made. What was left out of a recording,
or is still to come where the program stands in the middle, is not counted: it can be fewer where less was kept.

In JSON `tensor` is null when everything is finite, `bad` is how many elements offend, and `elements` are the first
{MOST_ELEMENTS} of them, or as many as -m says; `execution` counts the turns of a loop from 0. `inputs` are
names; `inputs` of an element are the values of those inputs that made it, in the same order: a number, a list for
the slice that a reduction or a product took (its size and extremes when it is longer than 32), null where that is
not known.""",
    section="Look",
)
