"""The protocol of `tfdbg attach`: JSON objects, one a line, each with a `kind`. docs/attach.md describes it."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

VERSION = 1
MOST_BYTES = 1 << 20  # of a message
MOST_AT_FIRST = 4096  # of the first one, from somebody who is not known yet
MOST_TEXT = 1 << 16  # characters of text in a message, of which each may take six bytes or twelve

Message: TypeAlias = dict[str, Any]


class BrokenMessageError(Exception):
    """What came is no message of this protocol."""


def packed(kind: str, **facts: Any) -> bytes:
    """A message as it goes over the socket."""
    return json.dumps({"kind": kind, **facts}, separators=(",", ":")).encode("ascii") + b"\n"


class Unpacker:
    """Makes messages of the bytes that come, in whatever pieces. No message may have more than `most` bytes."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self._left = bytearray()

    def take(self, data: bytes) -> list[Message]:
        """The messages that are whole with `data`.

        Raises:
            BrokenMessageError: one is too long, or none at all. Nothing behind it can be trusted.

        """
        self._left += data
        found = []
        while (end := self._left.find(b"\n", 0, self.most + 1)) >= 0:
            found.append(_message(bytes(self._left[:end])))
            del self._left[: end + 1]
        if len(self._left) > self.most:
            raise BrokenMessageError(f"more than {self.most} bytes")
        return found


def text_in(message: Message, name: str) -> str:
    """The text called `name`; empty where there is none."""
    found = message.get(name)
    return found if isinstance(found, str) else ""


def number_in(message: Message, name: str) -> int | None:
    """The whole number called `name`; None where there is none."""
    found = message.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _message(row: bytes) -> Message:
    try:
        found = json.loads(row)
    except (ValueError, RecursionError):
        raise BrokenMessageError("no JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("kind"), str):
        raise BrokenMessageError("no message")
    return found
