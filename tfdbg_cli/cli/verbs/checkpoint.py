"""`tfdbg checkpoint`: the variables of a checkpoint, alone, or beside those of another one or of a program."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.waiting import waited_for
from tfdbg_cli.process.streams import discard_output, write

if TYPE_CHECKING:
    from tfdbg_cli.analysis.variable_differences import VariablesCompared
    from tfdbg_cli.commands.views.variables.saved import VariableSide
    from tfdbg_cli.document.document import Document

HELP = "list the variables of a checkpoint, or compare them with others"


def prepare_parser(parser: Parser) -> None:
    """Take a checkpoint, and what to compare it with."""
    parser.description = (
        "List the variables of a checkpoint with what they hold: NaN and infinities, what is all zero, what cannot be"
        " read. With PATH2 compare them, value by value; with --against tell which variables of a program it would"
        " fill. TensorFlow is not needed, but for --against. The exit code is 0 when all is well; 1 with NaN,"
        " infinities or damage, when something differs, or when something is not filled or not taken; 2 when that"
        " cannot be told."
    )
    what = "a checkpoint: NAME.index, NAME, or the folder (the last one in it); a SavedModel has one, too"
    parser.add_argument("path", metavar="PATH", help=what)
    parser.add_argument(
        "other",
        metavar="PATH2",
        nargs="?",
        default="",
        help="another checkpoint, whose values are compared; or a SavedModel, whose variables are; or a MetaGraph"
        " (NAME.meta) or a graph file: what the graph has and the checkpoint lacks, and the other way round; or a"
        " recording, for its last run",
    )
    parser.add_argument(
        "--against",
        default="",
        metavar="SCRIPT",
        help="a program that is run as by `python SCRIPT` until it first uses variables, and never further: up to"
        " right before its first call of a tf.function, of a step of Keras or of Session.run that has variables;"
        " where all runs eagerly, up to its second gradient, for its optimizer makes variables in the first step; or"
        " else up to where it ends or raises. What it does until then it does: files that it writes are written. What"
        " it prints goes to standard error. For arguments write 'SCRIPT ARG…' in quotes",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print the page; 1 when something is wrong or differs, else 0, though nobody reads it to its end.

    Raises:
        TfdbgError: there is no checkpoint, or nothing to compare it with; or a value cannot be read.

    """
    from tfdbg_cli.commands.views.variables.saved import saved_checkpoint
    from tfdbg_cli.errors import TfdbgError

    if options.other and options.against:
        hint = "Write: tfdbg checkpoint PATH PATH2, or tfdbg checkpoint PATH --against SCRIPT"
        raise TfdbgError("PATH2 and --against exclude each other.", hint=hint, exit_code=2)
    side = waited_for(options.path, lambda: saved_checkpoint(options.path))
    if options.against:
        return _filled(options, side)
    return _compared(options, side) if options.other else _listed(options, side)


def _listed(options: argparse.Namespace, side: VariableSide) -> int:
    from tfdbg_cli.commands.views.variables.checkpoint_page import checkpoint_document, findings

    found = findings(side)
    _print(checkpoint_document(side, found), as_json=options.json)
    return int(found.bad)


def _compared(options: argparse.Namespace, side: VariableSide) -> int:
    from tfdbg_cli.analysis.variable_differences import compared
    from tfdbg_cli.commands.views.variables.compared import compared_document
    from tfdbg_cli.commands.views.variables.saved import put_together, saved_variables
    from tfdbg_cli.errors import AfterAnswerError

    other = put_together(waited_for(options.other, lambda: saved_variables(options.other)), side)
    found = compared(side.variables, other.variables)
    _print(compared_document(side, other, found), as_json=options.json)
    if why := _cannot_tell(side, other, found):
        text = f"Could not compare all: {why}"
        raise AfterAnswerError(text, hint="`tfdbg doctor` says what is wrong with a file.", exit_code=2)
    return 0 if found.same else 1


def _cannot_tell(first: VariableSide, second: VariableSide, found: VariablesCompared) -> str:
    """Why nobody can tell whether both hold the same; empty where it can be told."""
    if found.differing:
        return ""
    if found.same and found.unread:
        return f"{first.variables.rows[found.unread[0]].name} cannot be read."
    gaps = [*first.gaps, *second.gaps]
    damages = [*first.damages, *second.damages]
    alone = (found.pairs.only_first and not second.gaps) or (found.pairs.only_second and not first.gaps)
    if alone and damages == gaps:
        return ""
    unknown = gaps if found.same else damages  # what variables are called does not count where all are pairs
    return unknown[0] if unknown else ""


def _filled(options: argparse.Namespace, side: VariableSide) -> int:
    from tfdbg_cli.analysis.variables.filling import filled
    from tfdbg_cli.cli.program_variables import asked, program_words
    from tfdbg_cli.commands.views.variables.filling_page import filling_document
    from tfdbg_cli.commands.views.variables.saved import objects_behind
    from tfdbg_cli.errors import AfterAnswerError

    objects = objects_behind(side)
    program = asked(program_words(options.against))
    found = filled(program, side.variables.rows, objects)
    _print(filling_document(side, options.against, program.moment, found), as_json=options.json)
    if side.gaps and not found.misfits:
        text = f"Could not tell of all: {side.gaps[0]}"
        raise AfterAnswerError(text, hint="`tfdbg doctor` says what is wrong with a file.", exit_code=2)
    return 0 if found.whole else 1


def _print(document: Document, *, as_json: bool) -> None:
    from tfdbg_cli.document.ansi import ansi_row, wants_color
    from tfdbg_cli.document.jsonlines import document_json
    from tfdbg_cli.document.text import plain_row
    from tfdbg_cli.terminal_facts import columns, is_tty

    try:
        if as_json:
            write(sys.stdout, document_json("checkpoint", document) + "\n")
        else:
            tty = is_tty(sys.stdout)
            row = ansi_row if wants_color(os.environ, tty) else plain_row
            for line in document.lines(columns() if tty else None):
                write(sys.stdout, row(line) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:  # `| head`: what was found is known all the same
        discard_output()
