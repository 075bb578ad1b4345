"""Tab at an attached prompt, where the program is slow to answer."""

from __future__ import annotations

import socket
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.input import PROMPT, Completer
from tfdbg_cli.remote import client
from tfdbg_cli.remote.channel import Channel
from tfdbg_cli.remote.client import Client
from tfdbg_cli.remote.visitor import Wishes

_LONG = 60.0  # seconds, of which none passes where all is well


class _Tabs:
    """A user who presses Tab behind each of `texts` at the first prompt, and leaves at the second."""

    interactive = True
    echoes = False
    ending = ""

    def __init__(self, patience: list[tuple[str, float]], monkeypatch: pytest.MonkeyPatch) -> None:
        self._texts = patience
        self._monkeypatch = monkeypatch
        self.given_up = threading.Event()
        self.offered: list[tuple[str, ...]] = []

    def opened(self, completer: Completer) -> AbstractContextManager[object]:
        self._completer = completer
        return nullcontext()

    def silent(self) -> bool:
        return False

    def read(self, prompt: str = PROMPT) -> str | None:
        if not self._texts:
            return None
        for text, patience in self._texts:
            self._monkeypatch.setattr(client, "_PATIENCE", patience)
            self.offered.append(self._completer(text).candidates)
            self.given_up.set()
        self._texts = []
        return "lt"


def _visit(tabs: _Tabs, program: Any) -> int:
    """The exit code of a visit to the other end of a socket, where `program` is."""
    ours, theirs = map(Channel, socket.socketpair())
    thread = threading.Thread(target=program, args=(theirs,))
    thread.start()
    wishes = Wishes(interactive=True, echoes=False, opening=False, json=False, color=False)
    code = Client(ours, tabs, wishes, None, wide=False, silence=_LONG).talk("a token")
    thread.join(_LONG)
    return code


def _request(channel: Channel) -> dict[str, Any]:
    """The next message of the client that asks for completions."""
    while (message := channel.receive(_LONG)) is not None and message["kind"] != "complete":
        pass
    assert message is not None
    return message


def _end(channel: Channel) -> None:
    while (message := channel.receive(_LONG)) is not None and message["kind"] != "leave":
        if message["kind"] == "line":
            channel.send("read", prompt="> ")
    channel.send("bye", text="Well.")


def test_an_answer_that_comes_late_is_not_that_to_the_next_tab(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A blind test: the second Tab offered what the first had asked for, the third what the second had, and so on."""
    tabs = _Tabs([("l", 0.0), ("p", _LONG)], monkeypatch)

    def program(channel: Channel) -> None:
        channel.send("welcome", name="job", pid=1)
        channel.send("read", prompt="> ")
        first = _request(channel)
        assert tabs.given_up.wait(_LONG)
        second = _request(channel)
        channel.send("completions", request=first["request"], start=0, candidates=["lt", "lp"], common="l", total=2)
        channel.send("text", text="one\n")
        channel.send("text", text="two\n")
        channel.send("completions", request=second["request"], start=0, candidates=["pt"], common="pt", total=1)
        _end(channel)

    assert _visit(tabs, program) == 0
    assert tabs.offered == [(), ("pt",)]
    assert capsys.readouterr().out == "one\ntwo\n\n", "what comes meanwhile is shown in its order"


def test_a_program_that_does_not_number_its_answers_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    tabs = _Tabs([("l", _LONG)], monkeypatch)

    def program(channel: Channel) -> None:
        channel.send("welcome", name="job", pid=1)
        channel.send("read", prompt="> ")
        _request(channel)
        channel.send("completions", start=0, candidates=["lt"], common="lt", total=1)
        _end(channel)

    assert _visit(tabs, program) == 0
    assert tabs.offered == [("lt",)]


def test_a_connection_that_ends_ends_every_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    tabs = _Tabs([("l", _LONG), ("p", _LONG)], monkeypatch)

    def program(channel: Channel) -> None:
        channel.send("welcome", name="job", pid=1)
        channel.send("read", prompt="> ")
        _request(channel)
        channel.end()

    with pytest.raises(TfdbgError, match="connection to the program is lost"):
        _visit(tabs, program)
    assert tabs.offered == [(), ()]
