"""Sorting very many things by texts, such as names: by their bytes in NumPy, in small steps."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tfdbg_cli.analysis.sorting import numbered, parted_in_steps, sorted_in_steps
from tfdbg_cli.model.values import Array

_ASKED = 1024  # things that are looked at in one step
_PART = 4096  # things, about, that are sorted in one step
_SAMPLED = 16  # texts for each such part, drawn to find out where it begins
_COPIED = 4  # times as many are put together in one step, into memory that is touched for the first time
_WORD = 8  # bytes that are compared at once
_MOST_BYTES = 1 << 28  # for all texts, each as long as the longest; else they are sorted as they are


def sorted_by_text_in_steps(
    things: Sequence[int], text: Callable[[int], str], *, reverse: bool = False
) -> Iterator[Sequence[int] | None]:
    """`things` sorted as `sorted` sorts them by `text`: None while it goes on, then the answer.

    In UTF-8 the order of the bytes is that of the characters, and they are compared eight at a time: this takes a
    third of the time of `sorted_in_steps`, whose way it goes. Texts that differ in NUL characters at their ends alone
    count as equal.
    """
    ahead = things[::-1] if reverse else things  # reversed before and behind: equal ones keep their order
    numbers = np.empty(len(ahead), np.int64)
    pieces: list[Array] = []
    for start in range(0, len(ahead), _ASKED):
        asked = ahead[start : start + _ASKED]
        pieces.append(_encoded(list(map(text, asked))))
        numbers[start : start + _ASKED] = numbered(asked)
        yield None
    width = -(-max((piece.itemsize for piece in pieces), default=_WORD) // _WORD) * _WORD
    if width * len(ahead) > _MOST_BYTES:
        yield from sorted_in_steps(things, text, reverse=reverse)
        return
    texts = np.empty(len(ahead), f"S{width}")
    for number, piece in enumerate(pieces):
        texts[number * _ASKED : (number + 1) * _ASKED] = piece
        if number % _COPIED == 0:
            yield None
    pieces.clear()
    ordered = np.empty(len(ahead), np.int64)
    written = ordered[::-1] if reverse else ordered
    done = 0
    for places in _ordered(texts):
        if places is not None:
            written[done : done + len(places)] = numbers.take(places)
            done += len(places)
        yield None
    found = array("q")
    for start in range(0, len(ordered), _PART * _COPIED):
        found.frombytes(ordered[start : start + _PART * _COPIED].tobytes())
        yield None
    yield found


def _encoded(texts: Sequence[str]) -> Array:
    """`texts` in UTF-8. NumPy itself puts those of ASCII into a row, which takes half the time."""
    try:
        return _in_a_row(texts)
    except UnicodeEncodeError:
        return _in_a_row([text.encode("utf-8", "surrogatepass") for text in texts])


def _in_a_row(texts: Sequence[str] | Sequence[bytes]) -> Array:
    row = np.empty(len(texts), f"S{max(1, *map(len, texts))}")
    row[:] = texts
    return row


def _ordered(texts: Array) -> Iterator[Array | None]:
    """The places of `texts` in their order, some at a time; None while nothing is known yet.

    Texts drawn by chance cut the whole into parts that are sorted alone. Those that equal a cut need no sorting.
    """
    count = len(texts) // _PART
    drawn = np.sort(texts[random.Random(0).choices(range(len(texts)), k=_SAMPLED * count) if count else []])
    cuts = drawn[_SAMPLED // 2 :: _SAMPLED]
    cuts = cuts[np.append(True, cuts[1:] != cuts[:-1])] if count else cuts
    repeated = bool((drawn[1:] == drawn[:-1]).any())  # else hardly any equals a cut, and none is asked
    # Numbers of 16 bits are sorted by their digits: of a million in a hundredth of a second.
    part = np.empty(len(texts), np.uint16 if 2 * len(cuts) < 1 << 16 else np.uint32)
    for start in range(0, len(texts), _PART):
        some = texts[start : start + _PART]
        before = np.searchsorted(cuts, some, "right")  # the last of them may be equal
        part[start : start + _PART] = 2 * before - (cuts.take(before - 1) == some if repeated else 0)
        yield None
    places = np.empty(len(texts), np.int64)
    lengths = yield from parted_in_steps(part, 2 * len(cuts) + 1, places)
    ends = [b"", *cuts.tolist(), b""]
    begun = 0
    for number, length in enumerate(lengths.tolist()):
        within = places[begun : begun + length]
        begun += length
        if number % 2 == 0 and length > 1:  # of an odd number are those that equal a cut
            shared = _shared(*ends[number // 2 : number // 2 + 2])  # by all that stand between two cuts
            within = within[_order_of(texts.take(within), shared)]
        yield within


def _shared(one: bytes, other: bytes) -> int:
    """With how many bytes both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (first, second) in pairs if first != second), min(len(one), len(other)))


def _order_of(texts: Array, shared: int) -> Array:
    """The places of `texts` in their order; the first `shared` bytes are the same in all."""
    left = texts.itemsize - shared
    rows = np.zeros((len(texts), -(-left // _WORD)), ">u8")
    rows.view(np.uint8)[:, :left] = texts.view(np.uint8).reshape(len(texts), texts.itemsize)[:, shared:]
    columns = rows.T.astype(np.uint64, order="C")[::-1]
    telling = [column for column in columns if (column != column[0]).any()]
    return np.lexsort(telling) if telling else np.arange(len(texts))
