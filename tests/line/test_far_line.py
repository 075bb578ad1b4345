"""The line prompt over what lies far away: a server that fails is an error, and the next attempt asks it again."""

from __future__ import annotations

import io
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.checkpoint_maker import checkpoint
from support.far_files import CountedFiles, put

from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.line.conversation import Conversation
from tfdbg_cli.line.output import TextOutput

_WEIGHTS = np.arange(9 << 20, dtype=np.float32)
_WEIGHTS[77] = np.nan


class _Person:
    """Asks one thing twice; the server fails the first time."""

    interactive = True
    echoes = False
    ending = ""

    def __init__(self, command: str, fails: list[bool]) -> None:
        self._command = command
        self._turns = [True, False]
        self._fails = fails

    def opened(self, completer: Any) -> Any:
        return nullcontext()

    def silent(self) -> bool:
        return False

    def read(self, prompt: str = "") -> str:
        if not self._turns:
            return "exit"
        self._fails[0] = self._turns.pop(0)
        return self._command


@pytest.mark.parametrize(
    ("command", "found"), [("lt -f has_nan", "1 dumped tensor(s) passing"), ("pt weights -s", "nan")]
)
def test_a_server_that_fails_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, found: str
) -> None:
    CountedFiles.store.clear()
    CountedFiles.pseudo_dirs[:] = [""]
    checkpoint(tmp_path / "ckpt" / "model", {"weights": _WEIGHTS, "bias": _WEIGHTS[:4]})
    stop = open_path(put(tmp_path / "ckpt", "counted", "bucket/ckpt"))
    assert len(stop.runs[0].tensors) == 2
    fails = [False]
    plain = CountedFiles.cat_file

    def failing(files: CountedFiles, path: str, *words: Any, **named: Any) -> bytes:
        if fails[0]:
            raise ConnectionResetError("Connection reset by peer")
        return plain(files, path, *words, **named)

    monkeypatch.setattr(CountedFiles, "cat_file", failing)
    output = io.StringIO()
    service = PromptService(stop, standard_registry())
    conversation = Conversation(service, _Person(command, fails), TextOutput(output, color=False, width=80))
    conversation.hold(opening=False, titled=False)
    failed, _, worked = output.getvalue().partition("Connection reset by peer")
    assert "could not be fetched" in failed
    assert found in worked.lower()
    assert "could not be read" not in worked
