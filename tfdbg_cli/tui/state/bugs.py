"""What the screen shows when tfdbg itself made a mistake: the user goes on, and can save a report."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback

import urwid

from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line, lines_of
from tfdbg_cli.version import __version__


def bug_report(what: str, error: BaseException) -> str:
    """What a maintainer needs: what was done, versions, the traceback. No values of the program."""
    facts = f"tfdbg {__version__}, Python {platform.python_version()}, urwid {urwid.__version__}, {sys.platform}"
    terminal = f"TERM={os.environ.get('TERM', '')}"
    trace = "".join(traceback.format_exception(error))
    return f"While: {what}\n{facts}, {terminal}\n\n{trace}"


def bug_document(what: str, report: str) -> Document:
    """The report as a red document with the ways on."""
    return text_document(
        "bug",
        line(Span("tfdbg made a mistake here. Your program is not affected.", Style.ERROR)),
        line("The screen goes on: ", Span("Esc", Style.KEY), " goes back."),
        EMPTY_LINE,
        line(Span("Save this report", Style.NAME, "ui:save-report"), " to send it with a bug report."),
        EMPTY_LINE,
        *lines_of(report.expandtabs(4), Style.DIM),
        data={"what": what, "report": report},
        title="Internal error",
    )


def save_report(report: str) -> str:
    """Write `report` to a new file that only this user can read; gives its path. OSError when it cannot."""
    descriptor, path = tempfile.mkstemp(prefix="tfdbg-report-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(report)
    return path
