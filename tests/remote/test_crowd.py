"""Connections that say nothing: who comes then is told why there is no room, and nobody waits for them."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.script import Script
from tfdbg_cli.remote.channel import Channel
from tfdbg_cli.remote.client import Client
from tfdbg_cli.remote.listener import Listener
from tfdbg_cli.remote.seat import Seat
from tfdbg_cli.remote.visitor import Wishes

_ROOM = 8


class _Host:
    def comes(self) -> None:
        pass

    def leaves(self, *, decided: bool) -> None:
        pass


def _unix(folder: Path) -> tuple[socket.socket, Callable[[], socket.socket]]:
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(folder / "s"))

    def connect() -> socket.socket:
        one = socket.socket(socket.AF_UNIX)
        one.connect(str(folder / "s"))
        return one

    return made, connect


def _network(folder: Path) -> tuple[socket.socket, Callable[[], socket.socket]]:
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    return made, lambda: socket.create_connection(made.getsockname())


@pytest.mark.parametrize("place", [_unix, _network])
def test_who_finds_no_room_is_told(place, tmp_path_factory, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("s"))
    listening, connect = place(Path())
    listening.listen(50)
    listener = Listener([listening], Seat(), _Host(), "a token", {})
    listener.start()
    idle = [connect() for _ in range(_ROOM)]
    wishes = Wishes(interactive=False, echoes=False, opening=False, json=False, color=False)
    for _ in range(20):
        script = Script(["lt"])
        client = Client(Channel(connect()), script, wishes, script, wide=False)  # type: ignore[arg-type]
        with pytest.raises(TfdbgError, match="Not attached: Too many connections wait at this program"):
            client.talk("a token")
    silent = Channel(connect())
    refused = silent.receive()
    assert refused is not None and refused["kind"] == "refused"
    assert silent.receive() is None, "the connection ends"
    for one in idle:
        one.close()
    listener.close()
