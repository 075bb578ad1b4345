"""`tfdbg diff`: two recordings beside each other, and where they part."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.waiting import told_while, waited_for
from tfdbg_cli.process.streams import discard_output, write

if TYPE_CHECKING:
    from tfdbg_cli.commands.views.difference.recordings import Recorded
    from tfdbg_cli.document.document import Document

HELP = "show where two recordings part"
_DOCTOR = "`tfdbg doctor` says what is wrong with a file."


def prepare_parser(parser: Parser) -> None:
    """Take two recordings, and what counts as a difference."""
    parser.description = (
        "Compare two recordings: where they part, with both source lines, and all that differs. TensorFlow is not"
        " needed. The exit code is 0 when nothing differs, 1 when something does, 2 when they cannot be compared,"
        " or nothing differs of what can be read, and some of it cannot."
        " Graphs out of files hold no values: with --graphs it tells whether something sets them apart."
    )
    parser.add_argument("first", metavar="A", help="a recording or a checkpoint, or one run of it: old#26")
    parser.add_argument("second", metavar="B", nargs="?", default="", help="another one")
    parser.add_argument(
        "--workers",
        nargs=2,
        metavar=("W1", "W2"),
        help="two workers that recorded in A: what all are to share is compared, as each was given data of its own",
    )
    parser.add_argument(
        "--replicas",
        nargs="*",
        type=int,
        metavar="K",
        help="two replicas, counted from 0, of each run in A; one beside the first; without numbers all of them",
    )
    parser.add_argument("--rtol", type=float, metavar="R", help="relative difference that does not count")
    parser.add_argument("--atol", type=float, metavar="T", help="absolute difference that does not count")
    parser.add_argument("--map", default="", metavar="FILE", help="lines NAME_A NAME_B: nodes that are pairs")
    parser.add_argument("--graphs", action="store_true", help="list what sets the graphs apart, too")
    parser.add_argument("--run", type=int, metavar="N", help="compare only the runs #N")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print the page about the difference; 0 when there is none, else 1, though nobody reads it to its end.

    Raises:
        TfdbgError: they cannot be compared.

    """
    from tfdbg_cli.analysis.difference.tolerance import Tolerance
    from tfdbg_cli.commands.views.difference.recordings import DiffRequest, compared, replicas_compared
    from tfdbg_cli.errors import AfterAnswerError
    from tfdbg_cli.model.units import count_text

    asked = DiffRequest(Tolerance(options.rtol, options.atol), options.map, options.run, options.graphs)
    if options.replicas is None:
        sides = _sides(options)
        document, found = told_while("comparing runs", lambda told: compared(*sides, asked, told=told))
    else:
        recorded = _only(options)
        document, found = told_while(
            "comparing replicas", lambda told: replicas_compared(recorded, options.replicas, asked, told=told)
        )
    try:
        _print(document, as_json=options.json)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head`: what was found is known all the same
        discard_output()
    if found.comparison.of_graphs_alone:
        if options.graphs:
            return 1 if found.comparison.graph_changes else 0
        hint = "--graphs compares the graphs."
        raise AfterAnswerError("Could not compare: graphs hold no values.", hint=hint, exit_code=2)
    if not found.comparable:
        text = "Could not compare: no tensor has a value in both recordings."
        raise AfterAnswerError(text, hint=_DOCTOR if found.damaged else "", exit_code=2)
    if found.comparison.same and (damaged := found.damaged):
        where = f" of run #{damaged[0].runs[0]}" if found.pairs > 1 else ""
        tensors = f"{count_text(len(damaged), 'tensor')} cannot be read, {damaged[0].name}{where} the first"
        raise AfterAnswerError(f"Could not compare all: {tensors}.", hint=_DOCTOR, exit_code=2)
    return 0 if found.comparison.same else 1


def _sides(options: argparse.Namespace) -> tuple[Recorded, Recorded]:
    """What is compared: two recordings, or two workers of one."""
    from tfdbg_cli.commands.views.difference.recordings import opened_recording, opened_workers
    from tfdbg_cli.errors import TfdbgError

    if options.workers is None and options.second:
        first, second = options.first, options.second
        return (
            waited_for(first, lambda: opened_recording(first)),
            waited_for(second, lambda: opened_recording(second)),
        )
    if options.workers is None or options.second:
        raise TfdbgError(
            "Two recordings are compared, or two workers of one.",
            hint="Write: tfdbg diff A B, or tfdbg diff A --workers chief0 worker1",
            exit_code=2,
        )
    return waited_for(options.first, lambda: opened_workers(options.first, *options.workers))


def _only(options: argparse.Namespace) -> Recorded:
    """The recording of which replicas are compared."""
    from tfdbg_cli.commands.views.difference.recordings import opened_recording
    from tfdbg_cli.errors import TfdbgError

    if options.workers is not None or options.second:
        raise TfdbgError(
            "Replicas of the runs of one recording are compared.",
            hint="Write: tfdbg diff A --replicas 0 1, where A may be the folder of one worker",
            exit_code=2,
        )
    return waited_for(options.first, lambda: opened_recording(options.first))


def _print(document: Document, *, as_json: bool) -> None:
    from tfdbg_cli.document.ansi import ansi_row, wants_color
    from tfdbg_cli.document.jsonlines import document_json
    from tfdbg_cli.document.text import plain_row
    from tfdbg_cli.terminal_facts import columns, is_tty

    if as_json:
        write(sys.stdout, document_json("diff", document) + "\n")
        return
    tty = is_tty(sys.stdout)
    row = ansi_row if wants_color(os.environ, tty) else plain_row
    for line in document.lines(columns() if tty else None):
        write(sys.stdout, row(line) + "\n")
