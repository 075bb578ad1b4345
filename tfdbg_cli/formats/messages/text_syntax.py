"""Where a text stops to be one in protobuf's text format: told by its tokens, without a parser of messages."""

from __future__ import annotations

import re
from typing import NamedTuple

_SPACE = rb"(?:\s|#[^\n]*)*+"
_STRING = rb"(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+')"
_NAME = rb"(?:[A-Za-z_]\w*+|\[[\w./%-]+\])"
_SCALAR = rb"-?\s*+(?:[A-Za-z_]\w*+|[0-9.][\w.+-]*+)"
_VALUE = rb"(?:%b(?:%b%b)*+|%b)" % (_STRING, _SPACE, _STRING, _SCALAR)
_LIST = rb"\[%b(?:%b%b,?%b)*+\]" % (_SPACE, _VALUE, _SPACE, _SPACE)
_ONE_OF_MANY = rb"[}>]%b,%b[{<]" % (_SPACE, _SPACE)  # in a list of messages
_FIELD = rb"%b%b(?:[{<]|:%b(?:\[?%b[{<]|%b|%b))" % (_NAME, _SPACE, _SPACE, _SPACE, _VALUE, _LIST)
_MARK = rb"%b[;,]?" % _SPACE
_FIELDS = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:%b(?:%b|(?:[}>\]]|%b)%b))*+%b" % (_SPACE, _ONE_OF_MANY, _FIELD, _MARK, _SPACE), re.DOTALL
)
_BEFORE_VALUE = re.compile(rb"(%b)%b(:?)%b" % (_NAME, _SPACE, _SPACE))


class Fault(NamedTuple):
    """From which byte on a text makes no sense, and why."""

    offset: int
    reason: str


def first_fault(text: bytes) -> Fault | None:
    """The first place at which `text` is no field, no value and no end of a message; None where it is all of these.

    Whether braces match and which fields there are is not looked at.
    """
    whole = _FIELDS.match(text)
    at = 0 if whole is None else whole.end()
    if at == len(text):
        return None
    name = _BEFORE_VALUE.match(text, at)
    if name is not None:
        at = name.end()
    if text[at : at + 1] in (b'"', b"'"):
        line = text[at:].partition(b"\n")[0]
        if re.match(_STRING, line) is None:
            return Fault(at, "a quote has no second one on its line")
    if name is None:
        return Fault(at, "no field begins so")
    if name[2]:
        return Fault(at, f"no value of {name[1].decode('ascii', 'replace')} begins so")
    return Fault(at, f"{name[1].decode('ascii', 'replace')} is followed by neither a colon nor a brace")


def line_and_column(text: bytes, offset: int) -> str:
    """Where a byte of `text` is, as editors count: `line 3, column 7`."""
    start = text.rfind(b"\n", 0, offset) + 1
    line = text.count(b"\n", 0, offset) + 1
    column = len(text[start:offset].decode("utf-8", "replace")) + 1
    return f"line {line:,}, column {column:,}"
