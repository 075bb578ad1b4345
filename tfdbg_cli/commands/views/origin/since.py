"""Since which run a variable, or a result, is not finite, as far as the watch that led to a stop can tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from tfdbg_cli.analysis.causes.sources_of_values import EARLIER
from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.analysis.origin.gone_past import fingerprint
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.watch.filter import Among
from tfdbg_cli.analysis.watch.filters import our_filter
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.origin.meanwhile import spoiled_meanwhile
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Hit, Opened, RunEnd, RunUnderWay
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.ops.kinds import PLAIN_CALLS, VARIABLE_READS

_SEE = "See what `origin` told at run #{}."
_START_AGAIN = (
    " To see what else is wrong, start again and put the variables back at each stop: `undo`, or --skip-update."
)
_SET_AGAIN = "`set` assigns another value where the program stands behind an op that ran eagerly."
_MOST_NAMED = 3  # runs under way


@dataclass(frozen=True)
class Since:
    """`when` completes "not finite since", and is empty where that is not known; `suggestion` says what to do then.

    The latter is empty where the cause says it. `cause` is what the cause is then, empty where it stays.
    """

    when: str = ""
    suggestion: str = ""
    cause: str = ""


def since_of(context: Context, origin: Origin) -> Since:
    """Since when the variable in which `origin` lies is not finite, or the result of the stop before this one."""
    if isinstance(context.stop, Opened):
        return _in_recording(context, origin)
    end = context.stop if isinstance(context.stop, RunEnd) else None
    hit = None if end is None else end.hit
    by_set = None if end is None else _by_set(end, origin)
    if by_set is not None:
        return by_set
    if end is None or hit is None:
        return Since()
    given_by = end.run.call.run_within(origin.name.node)
    if hit.behind is not None and hit.behind.number == given_by:
        return Since(f"run #{given_by}, the stop before this one")
    if not origin.variable or _was_finite(origin):
        return Since()
    known = _by_run_gone_past(hit, origin)
    if known is not None:
        return known
    found = _before(context, end, hit, origin)
    if found.suggestion or not hit.under_way or EARLIER not in origin.cause.text:
        return found
    return _or_meanwhile(found, hit, origin)


def _by_set(end: RunEnd, origin: Origin) -> Since | None:
    """By what `set` assigned to the variable at an earlier stop, which it held to the last bit when it was read."""
    given = [one for one in end.gone_on_with or () if one.is_variable]
    if not given or not origin.variable or EARLIER not in origin.cause.text:
        return None
    held = fingerprint(origin.value)
    alike = [one for one in given if one.held == held]
    if not alike:
        return None
    one = next((one for one in alike if one.name.node == origin.variable), alike[-1])
    told = f"`set` assigned it what it holds, at {one.node} in run #{one.run}"
    return Since(f"run #{one.run}, by `set`", _SET_AGAIN, origin.cause.text.replace(EARLIER, told))


def _by_run_gone_past(hit: Hit, origin: Origin) -> Since | None:
    """By a run of this watch that left the variable as it was read here; None if there is none.

    Runs may have names of their own for it: what it holds, to the last bit, tells that it is the same.
    """
    held = fingerprint(origin.value) if hit.left else b""
    alike = [one for one in hit.left if one.held == held]
    if not alike:
        return None
    first = alike[0]
    names = {one.variable for one in alike if one.number == first.number}
    own = origin.variable in names or len(names) > 1  # of several alike nobody knows which it was
    called = "" if own else f", which calls it {first.variable}"
    where = "" if first.frame is None else f" at {PurePath(first.frame.file).name}:{first.frame.line}"
    told = f"run #{first.number} wrote it so{where}"
    when = f"run #{first.number}{called}: written{where} by no computation of that run, so the watch went on"
    helps = (
        f"Check what is written{where or ' there'}: np.isfinite(value).all(); or restore a checkpoint from before."
    )
    return Since(when, helps, origin.cause.text.replace(EARLIER, told))


def _in_recording(context: Context, origin: Origin) -> Since:
    """What a recording has of a run of another thread that spoiled the variable meanwhile."""
    if not origin.variable or _was_finite(origin) or EARLIER not in origin.cause.text:
        return Since()
    run = spoiled_meanwhile(context, origin.variable)
    if run is None:
        return Since()
    told = f"{_named([run])}, which was under way, wrote it, and left it not finite"
    return Since(
        suggestion=f"See what `origin` tells of that run, which `runs #{run.number}` opens.",
        cause=origin.cause.text.replace(EARLIER, told),
    )


def _or_meanwhile(found: Since, hit: Hit, origin: Origin) -> Since:
    """`found`, where runs of other threads that are not over may have written the variable, too."""
    one = len(hit.under_way) == 1
    told = f"{_named(hit.under_way)} may have made it so: {'it is' if one else 'they are'} not over yet"
    which = f"run #{hit.under_way[0].number}" if one else "one of the runs that are not over"
    return Since(
        f"{found.when}; {told}" if found.when and hit.last_passed is not None else told,
        f"Go on with `run -f {hit.filter_name}`: if {which} made it so, the watch stops at the end of that, and"
        " `origin` tells there where it began.",
        origin.cause.text.replace(EARLIER, f"a run of another thread, {EARLIER}"),
    )


def _named(runs: Sequence[RunUnderWay]) -> str:
    """`run #6 in thread pusher`, or several of those."""
    named = [f"run #{run.number} in thread {run.thread}" for run in runs[:_MOST_NAMED]]
    more = len(runs) - len(named)
    named += [f"{more:,} more"] if more else []
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"


def _before(context: Context, end: RunEnd, hit: Hit, origin: Origin) -> Since:
    """Since when it is so by what earlier runs tell."""
    if hit.last_passed is None:
        if hit.others_passed:
            return Since()
        if hit.behind is not None and not hit.behind.wrote(origin.variable):
            return Since(f"before run #{hit.behind.number}, the stop before this one, which did not write it")
        if hit.behind is not None:
            told = _SEE if end.run.call.kind is RunKind.EAGER else _SEE + _START_AGAIN
            number = hit.behind.number
            return Since(f"run #{number}, the stop before this one, or before", told.format(number))
        return Since("before this watch began: this is its first run")
    ours = our_filter(context.filters[hit.filter_name]) if hit.filter_name in context.filters else None
    if ours is not None and ours.among is Among.OUTCOME:
        return Since()  # what a run only reads is not asked, nor what it left as it was
    if not _was_looked_at(end, hit, origin):
        return Since()
    looked = " of those that look at it" if hit.others_passed else ""
    return Since(f"after run #{hit.last_passed}, the last one{looked} in which the watch found nothing")


def _was_finite(origin: Origin) -> bool:
    """Whether `origin` reads a variable that was finite before the run."""
    held = origin.inputs[0].value if origin.inputs and origin.op_type in VARIABLE_READS else None
    return held is not None and not nonfinite_mask(held).any()


def _was_looked_at(end: RunEnd, hit: Hit, origin: Origin) -> bool:
    """Whether a run of the same kind in which the watch found nothing has surely asked what is bad at `origin`."""
    run, name = end.run, origin.name.node
    if run.call.kind is RunKind.EAGER:  # each turn may take another way
        return False
    scopes = call_scopes(run.graph)
    if any(run.graph.node(scopes.caller(scope)).op_type not in PLAIN_CALLS for scope in scopes.around(name)):
        return False
    left_out = any(node in (name, origin.variable) for place in end.ignored for node in place.nodes)
    excluded = hit.exclude_node_names
    return not left_out and not (excluded and re.search(excluded, name))
