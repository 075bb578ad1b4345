"""`tfdbg tail`: an event set of Debugger V2 followed while the program writes it."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.seconds import NOT_ABOVE_0, seconds
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.addresses import refuse_address
from tfdbg_cli.model.units import count_text
from tfdbg_cli.plain_text import safe
from tfdbg_cli.process.streams import to_stderr, write

if TYPE_CHECKING:
    from tfdbg_cli.formats.event_sets.following import Growth

HELP = "follow the log directory of Debugger V2 while it is written"
_INTERVAL = 1.0
_FOUND = 3  # the exit code when something is not finite, as that of `run` when a rule fired
_SHOWN = 3
_EARLY = "calls that are not recorded yet"
_QUIET = 5.0  # seconds without news, after which what has no call yet is told


def prepare_parser(parser: Parser) -> None:
    """Take a folder, and when to end."""
    parser.description = (
        "Print a line for each call of a function, and for eager ops as they come, with what is not finite. Ends by"
        " Ctrl-C, or as the options say; the exit code is 3 when something was not finite."
    )
    parser.add_argument("path", metavar="PATH", help="the dump_root of enable_dump_debug_info; need not be there yet")
    parser.add_argument("--interval", type=seconds, default=_INTERVAL, metavar="SECONDS", help="how often to look")
    parser.add_argument("--idle", type=seconds, metavar="SECONDS", help="end when nothing came for so long")
    parser.add_argument("--until-alert", action="store_true", help="end at the first run that is not finite")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line for each run")


def run(options: argparse.Namespace) -> int:
    """Print runs as they come, until an option says to end; 3 if something was not finite, else 0.

    Raises:
        TfdbgError: the path is a file, or the times make no sense.

    """
    from tfdbg_cli.formats.event_sets.following import FollowedFolder

    if options.interval <= 0 or (options.idle is not None and options.idle < 0):
        raise TfdbgError(NOT_ABOVE_0, hint="Write: tfdbg tail PATH --interval 1")
    hint = "`tfdbg open` shows what is there by now."
    refuse_address(options.path, "`tail` follows folders of this machine alone", hint)
    folder = Path(options.path).expanduser()
    if folder.exists() and not folder.is_dir():
        raise TfdbgError(f"{folder} is a file.", hint="Give the folder that Debugger V2 writes into.")
    _say_what_is_waited_for(folder, options.idle)
    following, came, bad = FollowedFolder(folder), time.monotonic(), False
    while True:
        quiet = time.monotonic() - came
        ending = options.idle is not None and quiet >= options.idle
        for growth in following.growth(behind=ending or quiet >= _QUIET):
            ending, came = False, time.monotonic()
            if options.until_alert and growth.run.lacks:
                raise TfdbgError(
                    f"{growth.run.lacks} No alert can come.",
                    hint='Write it with tensor_debug_mode="FULL_HEALTH", or leave --until-alert out.',
                )
            told = _told(growth)
            write(
                sys.stdout,
                (json.dumps(told) if options.json else safe(_line(told, blind=bool(growth.run.lacks)))) + "\n",
            )
            sys.stdout.flush()
            bad = bad or bool(told["alerts"])
            if bad and options.until_alert:
                return _FOUND
        if ending:
            return _FOUND if bad else 0
        left = options.interval if options.idle is None else options.idle - (time.monotonic() - came)
        time.sleep(max(0.0, min(options.interval, left)))


def _say_what_is_waited_for(folder: Path, idle: float | None) -> None:
    """Say on standard error where there is nothing to follow yet.

    Raises:
        TfdbgError: another program writes there than Debugger V2.

    """
    from tfdbg_cli.formats.event_set_format import EVENT_SETS
    from tfdbg_cli.formats.opening import FORMATS
    from tfdbg_cli.formats.recording.format import NamedPath

    place = NamedPath(folder)
    if EVENT_SETS.recognizes(place):
        return
    other = next((known for known in FORMATS if not place.is_missing and known.recognizes(place)), None)
    if other is not None:
        hint = f"`tfdbg open --follow {shlex.quote(str(folder))}` shows it, and what is added to it."
        raise TfdbgError(f"{folder} is no log directory of Debugger V2.", hint=hint)
    waits = "is not there yet" if place.is_missing else "holds nothing of Debugger V2 yet"
    most = "" if idle is None else f", at most {idle:g} s"
    to_stderr(f"{safe(str(folder))} {waits}; waiting for it, until Ctrl-C{most}.")


def _told(growth: Growth) -> dict[str, Any]:
    """The JSON form of what came: the run, and its alerts.

    Of `unknown` tensors nobody can tell whether they are finite; `more` belongs to a run that was told before.
    """
    from tfdbg_cli.analysis.many_runs.alerts import Alert, known_of
    from tfdbg_cli.commands.views.alerts import alert_data

    run, store = growth.run, growth.run.tensors
    alerts, unknown = [], 0
    for index in range(growth.start, growth.end):
        summary = known_of(store, index)
        if summary is not None and summary.any_nonfinite:
            alerts.append(alert_data(run, Alert(growth.place, index, summary)))
        unknown += summary is None or summary.any_nonfinite is None
    title = _EARLY if growth.early else run.call.title.partition(": ")[2]
    return {
        "kind": "run",
        "run": growth.place + 1,
        "title": title,
        "tensors": growth.end - growth.start,
        "more": growth.more,
        "unknown": unknown,
        "alerts": alerts,
    }


def _line(told: dict[str, Any], *, blind: bool) -> str:
    """The same as a line; `blind` where the set tells of no tensor whether it is finite."""
    alerts = told["alerts"]
    run = f"from run {told['run']} on" if told["title"] == _EARLY else f"run {told['run']}"
    head = f"{run}: {told['title']}, {count_text(told['tensors'], 'more tensor' if told['more'] else 'tensor')}"
    if not alerts:
        return f"{head}: not recorded whether finite" if blind else head
    first = [
        f"{alert['tensor']} ({alert['text']}{'' if alert['file'] is None else ', ' + _place(alert)})"
        for alert in alerts[:_SHOWN]
    ]
    more = f" and {len(alerts) - _SHOWN:,} more" if len(alerts) > _SHOWN else ""
    return f"{head}: NOT FINITE: {'; '.join(first)}{more}"


def _place(alert: dict[str, Any]) -> str:
    return f"{alert['file'].rpartition('/')[2]}:{alert['line']}"
