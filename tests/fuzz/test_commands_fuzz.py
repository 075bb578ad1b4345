"""Whatever is typed is answered by a document, a decision, or a sentence that says what is wrong."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import get_args

import pytest
from support import sample_run
from support.command_maker import CommandMaker
from support.fuzzing import Turns
from support.plain_text import plain

from tfdbg_cli.commands.completion import complete
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.registry import UiAction
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.jsonlines import document_json
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import Decision
from tfdbg_cli.model.runs import Stop

_STOPS = {
    "start": sample_run.run_start,
    "end": sample_run.run_end,
    "hit": sample_run.run_hit,
    "failed": sample_run.run_failed,
    "opened": lambda: sample_run.opened(3),
}
_REGISTRY = standard_registry()


@pytest.mark.parametrize("stop", _STOPS.values(), ids=_STOPS)
@pytest.mark.parametrize("seed", range(3))
def test_random_commands_are_answered(stop: Callable[[], Stop], seed: int, turns: Turns) -> None:
    context = Context(stop(), width=80)
    maker = CommandMaker(seed, context, _REGISTRY)
    for _ in turns(60):
        command = maker.command()
        try:
            _answered(command, context)
        except Exception as error:
            raise AssertionError(f"{command!r} gave {type(error).__name__}: {error}") from error


def _answered(command: str, context: Context) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            outcome = execute(command, context, _REGISTRY)
    except TfdbgError as error:
        assert error.message.strip()
        assert error.message.rstrip()[-1] in ".:?)", error.message
        assert error.exit_code in {1, 2}
        return
    if not isinstance(outcome, Document):
        assert isinstance(outcome, (UiAction, *get_args(Decision)))
        return
    for width in (None, 40, 80):
        assert "\x1b" not in plain(outcome.lines(width))
    text = document_json(command, outcome)
    assert "\n" not in text
    answer = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert answer["command"] == command
    assert answer["kind"]


@pytest.mark.parametrize("stop", _STOPS.values(), ids=_STOPS)
def test_completion_of_random_beginnings_never_fails(stop: Callable[[], Stop], turns: Turns) -> None:
    context = Context(stop(), width=80)
    maker = CommandMaker(11, context, _REGISTRY)
    for at in turns(100):
        command = maker.command()
        begun = command[: at % (len(command) + 1)]
        found = complete(begun, context, _REGISTRY)
        assert 0 <= found.start <= len(begun)
        assert all(isinstance(candidate, str) for candidate in found.candidates)
