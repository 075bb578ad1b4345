"""`tfdbg info`: what to know before asking why something does not work."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator

from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.document.ansi import wants_color
from tfdbg_cli.paths import config_file, history_file, scans_folder
from tfdbg_cli.plain_text import harmless
from tfdbg_cli.process.streams import write
from tfdbg_cli.terminal_facts import terminal_facts
from tfdbg_cli.version import __version__, installed_version, tensorflow_version

HELP = "print versions, paths and what is known about the terminal"
_PACKAGES = ("numpy", "urwid", "pygments", "ml_dtypes", "protobuf")


def prepare_parser(parser: Parser) -> None:
    """Take nothing."""


def run(options: argparse.Namespace) -> int:
    """Print what there is to know."""
    for row in info_lines():
        write(sys.stdout, harmless(row) + "\n")
    return 0


def info_lines() -> Iterator[str]:
    """Versions, places and facts about the terminal, one a line. TensorFlow is not loaded."""
    facts = terminal_facts()
    obstacle = facts.obstacle()
    rows = {
        "tfdbg": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "tensorflow": tensorflow_version() or "not installed",
        **{name: installed_version(name) or "not installed" for name in _PACKAGES},
        "settings": _place(str(config_file())),
        "history": _place(str(history_file())),
        "scans": _place(str(scans_folder())),
        "front end": f"line prompt, since {obstacle}" if obstacle else "full screen",
        "TFDBG_UI": os.environ.get("TFDBG_UI") or "not set",
        "TERM": facts.term or "not set",
        "stdin": "a terminal" if facts.stdin_tty else "no terminal",
        "stdout": "a terminal" if facts.stdout_tty else "no terminal",
        "/dev/tty": "can be opened" if facts.controlling else "cannot be opened",
        "colours": "yes" if wants_color(os.environ, facts.stdout_tty) else "no",
    }
    for name, value in rows.items():
        yield f"{name:<11} {value}"


def _place(path: str) -> str:
    return path if os.path.exists(path) else f"{path} (not there)"  # noqa: PTH110
