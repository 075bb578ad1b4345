"""A command asked of whatever a reader accepted: only a document or a sentence may come of it."""

from __future__ import annotations

import json
import warnings

import pytest

from support.ending import ends
from support.plain_text import plain
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.jsonlines import document_json
from tfdbg_cli.errors import TfdbgError

_REGISTRY = standard_registry()


def ask(command: str, context: Context, label: str) -> None:
    """Carry `command` out and draw its answer, as text and as JSON; `label` says what it was asked of."""
    try:
        with ends(f"{label}: {command}"), warnings.catch_warnings():
            warnings.simplefilter("error")
            outcome = execute(command, context, _REGISTRY)
            if isinstance(outcome, Document):
                for width in (80, 30):
                    assert "\x1b" not in plain(outcome.lines(width))
                json.loads(document_json(command, outcome), parse_constant=pytest.fail)
    except TfdbgError as error:
        assert error.message.strip()
    except Exception as error:
        raise AssertionError(f"{label}: {command!r} gave {type(error).__name__}: {error}") from error
