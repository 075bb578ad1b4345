"""`version`: what is installed here."""

from __future__ import annotations

import argparse
import platform

import numpy as np

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Command
from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.version import __version__, tensorflow_version


def _version(context: Context, options: argparse.Namespace) -> Document:
    versions = {
        "tfdbg": __version__,
        "tensorflow": tensorflow_version(),
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    lines = [line(Span(f"{name:<11}", Style.LABEL), shown or "not installed") for name, shown in versions.items()]
    return text_document("version", *lines, data=versions, title="version")


COMMAND = Command(
    "version", ("ver",), "Versions of tfdbg, TensorFlow, NumPy and Python.", _version, section="Settings and help"
)
