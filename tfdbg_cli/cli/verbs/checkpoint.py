"""`tfdbg checkpoint`: the variables of a checkpoint, alone or beside those of another one or of a graph."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.prompt import look_at
from tfdbg_cli.cli.waiting import waited_for
from tfdbg_cli.streams import write

if TYPE_CHECKING:
    from tfdbg_cli.commands.views.saved_variables import VariableSide
    from tfdbg_cli.document.document import Document
    from tfdbg_cli.model.runs import Opened

HELP = "list the variables of a checkpoint, or compare them with others"


def prepare_parser(parser: Parser) -> None:
    """Take a checkpoint, and what to compare it with."""
    parser.description = (
        "List the variables of a checkpoint with what they hold: NaN and infinities, what an optimizer keeps, what"
        " looks as if it had been made twice. With PATH2 compare them. TensorFlow is not needed. The exit code is 0;"
        " with PATH2 it is 1 when something differs, and 2 when they cannot be compared."
    )
    what = "a checkpoint: NAME.index, NAME, or the folder (the last one in it); a SavedModel has one, too"
    parser.add_argument("path", metavar="PATH", help=what)
    parser.add_argument(
        "other",
        metavar="PATH2",
        nargs="?",
        default="",
        help="another checkpoint, whose values are compared; or a SavedModel, a MetaGraph (NAME.meta) or a graph file:"
        " then what the graph has and the checkpoint lacks, and the other way round; or a recording, for its last run",
    )
    parser.add_argument(
        "-c",
        "--command",
        action="append",
        metavar="CMD",
        dest="commands",
        help="then run CMD at a prompt on the checkpoint; repeatable",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, and one for each CMD")


def run(options: argparse.Namespace) -> int:
    """Print the page; 0, or beside PATH2 1 when something differs.

    Raises:
        TfdbgError: there is no checkpoint, or nothing to compare it with; or a value cannot be read.

    """
    from tfdbg_cli.errors import TfdbgError

    try:
        return _looked_at(options)
    except TfdbgError as error:
        if options.other:  # 1 means that something differs
            error.exit_code = 2
        raise


def _looked_at(options: argparse.Namespace) -> int:
    from tfdbg_cli.commands.views.saved_variables import saved_checkpoint

    opened, side = waited_for(options.path, lambda: saved_checkpoint(options.path))
    differs = _compared(options, side) if options.other else _listed(options, side)
    sys.stdout.flush()
    if not options.commands:
        return differs
    failed = _asked(options, opened, side)
    return differs or failed


def _listed(options: argparse.Namespace, side: VariableSide) -> int:
    from tfdbg_cli.commands.views.checkpoint_page import checkpoint_document, findings

    found = findings(side)
    _print(checkpoint_document(side, found), as_json=options.json)
    return int(found.bad)


def _compared(options: argparse.Namespace, side: VariableSide) -> int:
    from tfdbg_cli.analysis.variable_differences import compared
    from tfdbg_cli.commands.views.saved_variables import saved_variables
    from tfdbg_cli.commands.views.variables_compared import compared_document
    from tfdbg_cli.errors import AfterAnswerError

    other = waited_for(options.other, lambda: saved_variables(options.other))
    found = compared(side.variables, other.variables)
    _print(compared_document(side, other, found), as_json=options.json)
    if found.same and found.unread:
        sys.stdout.flush()
        text = f"Could not compare all: {side.variables.rows[found.unread[0]].name} cannot be read."
        raise AfterAnswerError(text, hint="`tfdbg doctor` says what is wrong with a file.", exit_code=2)
    return 0 if found.same else 1


def _asked(options: argparse.Namespace, opened: Opened, side: VariableSide) -> int:
    """Carry out the commands at a prompt on the checkpoint; 1 when one failed."""
    from tfdbg_cli.api.launch_options import LaunchOptions, set_launch_options
    from tfdbg_cli.line.script import Script

    set_launch_options(LaunchOptions("none", Script(options.commands), None, None, options.json, sys.stdout))
    place = next(at for at in range(len(opened.runs)) if opened.runs[at].call == side.variables.run.call)
    return look_at(replace(opened, current=place))


def _print(document: Document, *, as_json: bool) -> None:
    from tfdbg_cli.document.ansi import ansi_row, wants_color
    from tfdbg_cli.document.jsonlines import document_json
    from tfdbg_cli.document.text import plain_row
    from tfdbg_cli.terminal_facts import columns, is_tty

    if as_json:
        write(sys.stdout, document_json("checkpoint", document) + "\n")
        return
    tty = is_tty(sys.stdout)
    row = ansi_row if wants_color(os.environ, tty) else plain_row
    for line in document.lines(columns() if tty else None):
        write(sys.stdout, row(line) + "\n")
