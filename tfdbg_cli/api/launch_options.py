"""The options of tfdbg's command line, kept for every front end of the process. Imports nothing heavy."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from tfdbg_cli.line.script import Script
from tfdbg_cli.model.decision import OnHit, RecordRuns, RunUntil
from tfdbg_cli.model.rules import JudgeRuns

if TYPE_CHECKING:
    from tfdbg_cli.line.bottom_lines import BottomLines
    from tfdbg_cli.remote.seat import Seat


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """The options of `tfdbg run` and `tfdbg open`.

    `ui` is "" where the choice was left. `script` holds the `-c` commands, fed to whichever prompt is open; None
    without any. `until` is a watch: each session then begins with `run -f FILTER` instead of a stop. `record` says
    which runs are recorded from the start on, `rules` what judges them as the program goes on; of one run in
    `trends` the norms are kept (0: of none). `output` is where answers go, whatever the program does to sys.stdout
    meanwhile. `seat` is for who attaches; None where the program does not listen. `live` are the lines of the
    terminal that tell how the training goes; None where nothing is told there. `on_hit` says which workers of a job
    stop where the watch of one finds something. `process` is the one that was launched: what `record` says is not for
    those that are forked from it.
    """

    ui: str = ""
    script: Script | None = None
    until: RunUntil | None = None
    record: RecordRuns | None = None
    rules: JudgeRuns | None = None
    trends: int = 0
    json: bool = False
    output: TextIO | None = None
    seat: Seat | None = None
    live: BottomLines | None = None
    on_hit: OnHit = OnHit.ONE
    process: int = field(default_factory=os.getpid)


_options = LaunchOptions()


def launch_options() -> LaunchOptions:
    """The options that hold in this process; in a program that `tfdbg` did not start, the defaults."""
    return _options


def set_launch_options(options: LaunchOptions) -> LaunchOptions:
    """Make `options` hold for every front end chosen from now on; gives back the ones before."""
    global _options
    before, _options = _options, options
    return before
