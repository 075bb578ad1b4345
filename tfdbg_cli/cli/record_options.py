"""The options of `tfdbg run`, and of `tfdbg listen`, that say which runs are recorded, and what of them."""

from __future__ import annotations

import argparse
from pathlib import Path

from tfdbg_cli.commands.asked.record_decision import record_decision
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.addresses import refuse_to_write
from tfdbg_cli.model.decision import RecordRuns


def add_record_options(parser: argparse.ArgumentParser, *, sent: bool = False) -> None:
    """Let `parser` take a recording; of runs that are `sent` its help names no option that is for a program alone."""
    group = parser.add_argument_group("to record runs, while the program goes on")
    group.add_argument("--record", metavar="PATH", default=None, help="record runs in the new folder PATH")
    group.add_argument(
        "--every", metavar="N", type=int, default=None, help="only the first run and every N-th after it"
    )
    group.add_argument(
        "--only", metavar="REGEX", default="", help="values of these nodes alone, of the others statistics"
    )
    group.add_argument("--layer", metavar="NAME", default="", help="values of this layer alone, of others statistics")
    group.add_argument(
        "--stats-only",
        action="store_true",
        help=argparse.SUPPRESS
        if sent
        else "statistics, which TensorFlow computes; no values but those of --only and --layer",
    )
    group.add_argument(
        "--budget",
        metavar="SIZE",
        default="",
        help="bytes that it may take, such as 4G (default: half of what is free"
        + (")" if sent else ", shared by the workers of a job)"),
    )
    group.add_argument(
        "--full", choices=("drop", "stop"), default="", help="when it has: drop the oldest runs (default), or stop"
    )
    group.add_argument("--compress", action="store_true", help="compress values: slower to write and to read")
    group.add_argument(
        "--worker",
        metavar="NAME",
        default="",
        help=argparse.SUPPRESS
        if sent
        else "which worker of a job this is, where all record in the same PATH (default: as TF_CONFIG says)",
    )


def record_of(options: argparse.Namespace) -> RecordRuns | None:
    """The recording that a program begins with.

    Raises:
        TfdbgError: its options make no sense, or there is something at its path already.

    """
    if options.record is None:
        every = None if options.rules is not None or options.trends else options.every  # else it is that of those
        given = (every, options.only, options.layer, options.stats_only, options.budget, options.full)
        if any(given) or options.compress or options.worker:
            raise TfdbgError("A recording is described, and no path named.", hint="Name it: --record PATH")
        return None
    refuse_to_write(options.record)
    # The program may change its folder before the first run.
    return record_decision(
        str(Path(options.record).expanduser().absolute()),
        every=1 if options.every is None else options.every,
        only=options.only,
        layer=options.layer,
        stats_only=options.stats_only,
        budget=options.budget,
        full=options.full,
        compress=options.compress,
        worker=options.worker,
    )
