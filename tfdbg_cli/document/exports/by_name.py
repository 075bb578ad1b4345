"""What a document is written as in a file, by the end of the file's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath

from tfdbg_cli.document.ansi import ansi_row
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.exports.csv_rows import csv_text
from tfdbg_cli.document.exports.html import html_page
from tfdbg_cli.document.exports.svg import svg_picture
from tfdbg_cli.document.jsonlines import document_json
from tfdbg_cli.document.text import plain_row
from tfdbg_cli.errors import TfdbgError

_NO_TEXT = {
    **dict.fromkeys((".npy", ".npz", ".safetensors"), "`export FILE NAME` writes the array itself."),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".pdf"), "Write a picture of it to .svg."),
}  # what would hold text under a name that promises something else, and what to do instead


def exported(document: Document, command: str, file_name: str) -> str:
    """`document`, which answered `command`, as a file called so holds it; plain text where its end says nothing.

    Raises:
        TfdbgError: the document cannot be written so.

    """
    suffix = PurePath(file_name).suffix.lower()
    if suffix in _NO_TEXT:
        raise TfdbgError(f"A screen is text, which no {suffix} file holds.", hint=_NO_TEXT[suffix])
    return EXPORTS.get(suffix, _text)(document, command)


def _text(document: Document, command: str) -> str:
    return "".join(f"{plain_row(line)}\n" for line in document.lines(None))


def _ansi(document: Document, command: str) -> str:
    return "".join(f"{ansi_row(line)}\n" for line in document.lines(None))


EXPORTS: Mapping[str, Callable[[Document, str], str]] = {
    ".ansi": _ansi,
    ".csv": lambda document, command: csv_text(document.data(), command),
    ".html": lambda document, command: html_page(command, document.lines(None)),
    ".json": lambda document, command: f"{document_json(command, document)}\n",
    ".svg": lambda document, command: svg_picture(command, document.lines(None)),
}
"""What the ends of names stand for; any other means plain text, but for those that would lie."""
