"""`tfdbg doctor`: what a path is, what is wrong with it, and what to do."""

from __future__ import annotations

import argparse
import json
import shlex
import sys

from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.waiting import waited_for
from tfdbg_cli.plain_text import safe
from tfdbg_cli.process.streams import write

HELP = "say what a path is, what is wrong with it and what to do"


def prepare_parser(parser: Parser) -> None:
    """Take a path."""
    parser.description = (
        "Say what a path is, what is wrong with it and what to do. The exit code is 1 when something is wrong."
    )
    parser.add_argument("path", metavar="PATH", help="whatever you want to open with `tfdbg open`")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print what there is to say; 1 when something is wrong.

    Raises:
        TfdbgError: there is nothing at the path, or it may not be read.

    """
    from tfdbg_cli.formats.examining import examined

    found = waited_for(options.path, lambda: examined(options.path))
    if options.json:
        troubles = [{"text": text, "advice": advice or None} for text, advice in found.troubles]
        command = shlex.join(["doctor", options.path])
        told = {
            "command": command,
            "kind": "examination",
            "path": options.path,
            "what": found.what,
            "facts": list(found.facts),
        }
        write(sys.stdout, json.dumps({**told, "troubles": troubles}) + "\n")
        return 1 if found.troubles else 0
    lines = [f"{options.path} is {found.what}.", *(f"  {fact}" for fact in found.facts)]
    for text, advice in found.troubles:
        lines += [f"! {text}", *([f"  → {advice}"] if advice else [])]
    if not found.troubles:
        lines.append("Nothing is wrong with it.")
    for row in lines:
        write(sys.stdout, safe(row) + "\n")
    return 1 if found.troubles else 0
