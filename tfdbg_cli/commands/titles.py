"""The title of a stop: which run, before or after it, and why it stopped."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.runs import Hit, Opened, Run, RunEnd, RunStart
from tfdbg_cli.model.units import count_text

if TYPE_CHECKING:  # a recording, which is not stepped through, opens without
    from tfdbg_cli.model.stepping import Stepper

_NOT_ITS_OWN = "the program got other last digits (ri)"
_MAYBE_NOT_ITS_OWN = "the program may have got other numbers (ri)"
_OTHER_NANS = "NaN of other bits than the program's (ri)"
_NOT_SHOWN = "other last digits than the program's (ri)"


class StopKind(StrEnum):
    """What a stop is about, in one word."""

    START = "start"
    END = "end"
    HIT = "hit"  # a watch found something
    ERROR = "error"
    OPENED = "opened"  # a recording


def stop_kind(context: Context) -> StopKind:
    """What the stop is about; of a run made or kept, which is looked at instead, only that it has ended."""
    stop = context.stop
    if isinstance(stop, RunStart):
        return StopKind.START
    if isinstance(stop, Opened):
        return StopKind.OPENED
    if context.run is not stop.run:
        return StopKind.END
    if stop.run.error is not None:
        return StopKind.ERROR
    return StopKind.HIT if stop.hit is not None else StopKind.END


def stop_title(context: Context) -> Line:
    """One line for the stop and the run looked at, styled by what it is; the words alone tell it too."""
    title = _titled(context)
    ignored = ignored_text(context)
    return line(*title.spans, Span(ignored, Style.WARNING)) if ignored else title


def ignored_text(context: Context) -> str:
    """The end of the title that tells how many places a user ignores; empty where there are none."""
    by_hand = 0 if context.stepper is not None else len(context.ignored.by_hand)
    return f" · {by_hand} ignored" if by_hand else ""


def _titled(context: Context) -> Line:
    event = context.stop
    if context.stepper is not None:
        return _stepping(context.stepper)
    if isinstance(event, RunStart):
        return line(Span(f"run-start: {event.call.title}", Style.TITLE))
    if isinstance(event, RunEnd):
        return _run_end(event, context.run)
    title = Span(f"{event.path}: {count_text(len(event.runs), event.noun)}", Style.TITLE)
    return line(title, Span(", followed", Style.GOOD)) if event.growing is not None else line(title)


def _stepping(stepper: Stepper) -> Line:
    count, at = len(stepper.nodes), stepper.next
    ahead = f"next {stepper.nodes[at].name}" if at < count else "all computed"
    return line(Span(f"stepper: {at} / {count}, ", Style.TITLE), Span(ahead, Style.WARNING))


def _run_end(event: RunEnd, run: Run) -> Line:
    if run.paused is not None and run.paused.why:
        title = Span(f"in {run.call.title}", Style.TITLE)
        return line(title, Span(f" at {run.paused.node}: {run.paused.why}", Style.WARNING))
    title = Span(f"run-end: {run.call.title}", Style.TITLE)
    if run.paused is not None and event.hit is not None:
        title = Span(f"in {run.call.title}", Style.TITLE)
        return line(title, Span(f" at {run.paused.node}: passed {_reason(event.hit)}", Style.WARNING))
    if run.what_if_title:
        return line(title, Span(f" {run.what_if_title}", Style.WARNING))
    if run is not event.run:
        return line(title, Span(f" kept from before run #{event.run.call.number}", Style.WARNING))
    hit = "" if event.hit is None else f" passed {_reason(event.hit)}"
    if event.run.error is not None:
        joint = " and" if hit else ""
        return line(title, Span(f"{hit}{joint} failed with {event.run.error.type_name}", Style.ERROR))
    exactness = event.run.exactness
    words = hit
    if exactness is not None and not exactness.exact:
        words += f" · {_inexact(exactness)}"
    return line(title, Span(words, Style.WARNING)) if words else line(title)


def _inexact(exactness: Exactness) -> str:
    if exactness.strays:
        return _NOT_ITS_OWN
    if exactness.doubt:
        return _MAYBE_NOT_ITS_OWN
    return _OTHER_NANS if exactness.numbers_exact else _NOT_SHOWN


def _reason(hit: Hit) -> str:
    return f"{hit.filter_name} after {count_text(hit.runs, 'run')}"
