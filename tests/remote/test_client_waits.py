"""A program that is attached to and says nothing, as one that was suspended: the system has taken the connection."""

from __future__ import annotations

import socket
import threading

import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.script import Script
from tfdbg_cli.remote import client
from tfdbg_cli.remote.channel import Channel
from tfdbg_cli.remote.client import Client
from tfdbg_cli.remote.visitor import Wishes

_LONG = 60.0  # seconds, of which none passes where all is well


def _client(channel: Channel, silence: float) -> Client:
    wishes = Wishes(interactive=False, echoes=False, opening=False, json=False, color=False)
    script = Script(["lt"])
    return Client(channel, script, wishes, script, wide=False, silence=silence)  # type: ignore[arg-type]


def test_a_program_that_does_not_answer_is_told_and_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: not a word was said while the program was stopped."""
    said: list[str] = []
    told = threading.Event()
    monkeypatch.setattr(client, "to_stderr", lambda sentence: (said.append(sentence), told.set()))
    ours, theirs = map(Channel, socket.socketpair())

    def refuse() -> None:
        assert told.wait(_LONG)
        theirs.send("refused", text="Enough.")

    program = threading.Thread(target=refuse)
    program.start()
    with pytest.raises(TfdbgError, match="Not attached: Enough"):
        _client(ours, silence=0.0).talk("a token")
    program.join(_LONG)
    assert said == ["The program does not answer yet: it may be suspended, or busy. Ctrl-C leaves."]


def test_of_one_that_answers_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "to_stderr", pytest.fail)
    ours, theirs = map(Channel, socket.socketpair())
    theirs.send("refused", text="Enough.")
    with pytest.raises(TfdbgError, match="Not attached: Enough"):
        _client(ours, silence=_LONG).talk("a token")
