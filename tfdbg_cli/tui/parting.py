"""What is left in the scrollback of the terminal when the screen closes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.model.decision import (
    Abort,
    Continue,
    DebugRun,
    Decision,
    Detach,
    PlainRun,
    ProfileRun,
    RecordRun,
    RecordRuns,
    RunTo,
    RunUntil,
    StepOn,
)
from tfdbg_cli.model.pausing import STEPS
from tfdbg_cli.model.units import count_text
from tfdbg_cli.plain_text import printable


def last_words(service: PromptService, decision: Decision, program: Sequence[str]) -> str:
    """Up to three lines: what was found, why it is so, and how to get back there.

    `program` is the command line by which the program was started. Where no origin was looked at, one line says which
    run and which screen were left, and what comes next.
    """
    pages = service.pages
    left = printable(pages.current.command)
    found = _found(service)
    if (path := service.recording) is not None:
        last = f"closed {printable(path)} at `{left}`."
        back = list(service.opened_by)
    else:
        last = f"{service.label}, left at `{left}`; {next_words(decision, sent=service.sent)}."
        kept = [page.document.data()["path"] for page in pages.all if page.document.kind == "bundle"]
        back = ["open", kept[-1]] if kept else []
    if found:
        again = printable(shlex.join(["tfdbg", *back] if back else program))
        last += f" Back there: {again}"
    return "\n".join(f"tfdbg: {line}" for line in (*found, last))


def _found(service: PromptService) -> list[str]:
    """What the origin looked at last in a run of the program says: the place, and the cause where it is known.

    Nothing of a run with other values, which never happened, nor where a later look at the run found nothing.
    """
    looked_at: set[int] = set()
    for page in reversed(service.pages.all):
        if page.document.kind != "origin" or page.run in looked_at or not service.happened(page.run):
            continue
        looked_at.add(page.run)
        data = page.document.data()
        if not data["tensor"]:
            continue
        place = f" at {Path(data['file']).name}:{data['line']}" if data["file"] else ""
        lines = [f"{page.label}: {data['tensor']} ({data['op_type']}){place} is the first that is not finite."]
        if data["cause"]:
            lines.append(f"{_rows(data)}{data['cause']}")
        return [printable(line) for line in lines]
    return []


def _rows(data: Mapping[str, Any]) -> str:
    rows = data["batch_rows"]
    if not rows:
        return ""
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"row {rows[0]} of the batch{more}: "


def next_words(decision: Decision, *, sent: bool = False) -> str:
    """What `decision` lets happen, in words; `sent` says that the program is elsewhere and sends runs."""
    match decision:
        case ProfileRun() | StepOn() | RunTo() if sent:
            return "the debugger opens at the next run"
        case Continue() if sent:
            return "going past all runs; Ctrl-C opens the debugger at the next one"
        case Detach() if sent:
            return "the program is answered, and nothing of it is kept"
        case Abort() if sent:
            return "no longer listening"
        case DebugRun(times=1):
            return "the next run is captured"
        case DebugRun(times=times):
            return f"the run after {count_text(times - 1, 'other')} is captured"
        case RunUntil(filter_name=name):
            return f"running until a tensor passes {name}"
        case RecordRun(path=path):
            return f"the next run is saved in {printable(path)}"
        case RecordRuns(path=path):
            return f"runs are recorded in {printable(path)}"
        case ProfileRun():
            return "the next run is profiled"
        case PlainRun():
            return "the next run is not captured"
        case StepOn(pace=pace):
            return f"a step to the next {STEPS[pace]}"
        case RunTo(place=place):
            return f"running to {printable(str(place))}"
        case Continue():
            return "running on; an error or a breakpoint opens the debugger again"
        case Detach():
            return "running on without the debugger"
        case Abort():
            return "ending the program"
