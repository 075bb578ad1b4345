"""Addresses as people write them, tokens, and what of a program's text a terminal is given."""

from __future__ import annotations

import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.remote.address import Address
from tfdbg_cli.remote.client import shown
from tfdbg_cli.remote.token import VARIABLE, is_same, token_for_listening


@pytest.mark.parametrize(
    ("text", "host", "port", "here"),
    [
        ("127.0.0.1:0", "127.0.0.1", 0, True),
        ("6064", "127.0.0.1", 6064, True),
        (":6064", "127.0.0.1", 6064, True),
        ("localhost:1", "localhost", 1, True),
        ("[::1]:1", "::1", 1, True),
        ("0.0.0.0:1", "0.0.0.0", 1, False),
        ("node7:65535", "node7", 65535, False),
    ],
)
def test_addresses_are_read(text: str, host: str, port: int, here: bool) -> None:
    address = Address.read(text)
    assert (address.host, address.port, address.here) == (host, port, here)


@pytest.mark.parametrize("text", ["", "host", "host:", "host:x", "::1", "host:65536", "a:b:1", "[]:1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(TfdbgError, match="is no address"):
        Address.read(text)


def test_nobody_there_is_told_with_exit_code_2() -> None:
    with Address.read("127.0.0.1:0").listen() as taken:
        place = Address("127.0.0.1", taken.getsockname()[1])
        with pytest.raises(TfdbgError, match="Cannot listen on") as told:
            place.listen()
        assert told.value.exit_code == 2
    with pytest.raises(TfdbgError, match="Cannot connect to") as told:
        place.connect()
    assert told.value.exit_code == 2


def test_tokens(monkeypatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    first, second = token_for_listening(), token_for_listening()
    assert len(first) >= 24
    assert not is_same(first, second)
    assert is_same(first, first)
    monkeypatch.setenv(VARIABLE, "my own secret")
    assert token_for_listening() == "my own secret"
    assert not is_same("ä", "\udcff")
    monkeypatch.setenv(VARIABLE, "short")
    with pytest.raises(TfdbgError, match="fewer than 8"):
        token_for_listening()


def test_a_terminal_gets_colours_and_nothing_else() -> None:
    assert shown("\x1b[1;31mNaN\x1b[0m\n\tx") == "\x1b[1;31mNaN\x1b[0m\n\tx"
    assert "\x1b" not in shown("\x1b]52;c;AAAA\x07 \x1b[2J \x1b[6n \r")


def test_a_token_of_ours_can_be_typed_behind_an_option(monkeypatch) -> None:
    monkeypatch.delenv("TFDBG_TOKEN", raising=False)
    made = {token_for_listening() for _ in range(50)}
    assert len(made) == 50
    assert all(one.isalnum() and len(one) >= 32 for one in made)
