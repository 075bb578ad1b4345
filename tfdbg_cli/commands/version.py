"""`version`: what is installed here."""

from __future__ import annotations

import argparse
import platform
import sys

import numpy as np

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Command
from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.version import __version__, installed_version


def tensorflow_version() -> str | None:
    """The version of TensorFlow: that of the loaded one, else of the installed one, which stays unloaded."""
    loaded = sys.modules.get("tensorflow")
    version = getattr(loaded, "__version__", None)
    if isinstance(version, str):
        return version
    names = ("tensorflow", "tensorflow-cpu", "tf-nightly")
    return next(filter(None, map(installed_version, names)), None)


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
