"""The protocol of `tfdbg attach`: messages come out as they went in, however they are cut; others are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.remote.messages import BrokenMessageError, Unpacker, number_in, packed, text_in

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
_FACTS = st.dictionaries(st.text(max_size=8).filter(lambda name: name != "kind"), _VALUES, max_size=4)


@given(st.lists(st.tuples(st.text(max_size=8), _FACTS), max_size=5), st.data())
def test_messages_come_out_as_they_went_in(sent, data) -> None:
    stream = b"".join(packed(kind, **facts) for kind, facts in sent)
    unpacker, found, at = Unpacker(), [], 0
    while at < len(stream):
        size = data.draw(st.integers(1, len(stream) - at))
        found += unpacker.take(stream[at : at + size])
        at += size
    assert found == [{"kind": kind, **facts} for kind, facts in sent]


@given(st.binary(max_size=200))
def test_what_is_no_message_is_refused_or_waited_for(data) -> None:
    try:
        found = Unpacker(100).take(data)
    except BrokenMessageError:
        return
    assert len(found) == data.count(b"\n")
    assert all(isinstance(message["kind"], str) for message in found)


@pytest.mark.parametrize("size", [99, 100, 101])
def test_a_message_has_a_greatest_length(size: int) -> None:
    row = packed("x", text="")
    row = packed("x", text="a" * (size - len(row) + 1))
    for pieces in ([row], [row[:50], row[50:]], [row[:-1], row[-1:]]):
        unpacker = Unpacker(100)
        if size <= 100:
            assert [message for piece in pieces for message in unpacker.take(piece)]
        else:
            with pytest.raises(BrokenMessageError):
                [unpacker.take(piece) for piece in pieces]


@pytest.mark.parametrize("row", [b"[]", b"{}", b'{"kind": 1}', b"\xff", b"[" * 90_000, b"GET / HTTP/1.1", b""])
def test_other_things_are_refused(row: bytes) -> None:
    with pytest.raises(BrokenMessageError):
        Unpacker().take(row + b"\n")


def test_fields_of_another_kind_count_as_not_there() -> None:
    message = {"kind": "x", "text": 3, "width": True, "code": 4}
    assert (text_in(message, "text"), text_in(message, "gone")) == ("", "")
    assert (number_in(message, "width"), number_in(message, "code")) == (None, 4)
