"""The secret by which a program knows who may attach to it over the network."""

from __future__ import annotations

import hmac
import os
import secrets

from tfdbg_cli.errors import TfdbgError

VARIABLE = "TFDBG_TOKEN"
_BYTES = 18
_LEAST = 8  # characters of one that a user chose


def given_token() -> str:
    """That of the environment; empty where there is none."""
    return os.environ.get(VARIABLE, "")


def token_for_listening() -> str:
    """That of the environment, else a new one.

    Raises:
        TfdbgError: that of the environment is too short.

    """
    given = given_token()
    if given and len(given) < _LEAST:
        raise TfdbgError(f"The token in {VARIABLE} has fewer than {_LEAST} characters.")
    return given or secrets.token_hex(_BYTES)  # it is typed behind --token, so it must not begin with a dash


def is_same(token: str, offered: str) -> bool:
    """Whether `offered` is `token`; how long this takes tells nothing of it."""
    return hmac.compare_digest(_bytes(token), _bytes(offered))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
