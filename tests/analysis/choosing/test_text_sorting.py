"""Sorting by texts in small steps gives what `sorted` gives, whatever the texts are."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tfdbg_cli.analysis.choosing import text_sorting
from tfdbg_cli.analysis.choosing.sorting import last_of
from tfdbg_cli.analysis.choosing.text_sorting import sorted_by_text_in_steps

_COUNT = 30_000
_CHANCE = random.Random(0)
_NUMBERS = [_CHANCE.randrange(_COUNT) for _ in range(_COUNT)]
_LETTERS = ["a", "Z", "/", "_", "\0x", "é", "中", "😀", "\udc80", "\uffff"]  # of one to four bytes, a lone surrogate
_WORDS = ["".join(_CHANCE.choices(_LETTERS, k=_CHANCE.randrange(12))) for _ in range(_COUNT)]
TEXTS: dict[str, Callable[[int], str]] = {
    "all different": lambda i: f"model/layer_{i * 7919 % 997}/relu_{i}",
    "some equal": lambda i: f"{_NUMBERS[i]}",
    "few different": lambda i: ("MatMul", "Relu", "")[i % 3],
    "nearly all equal": lambda i: "Add" * (i == 17),
    "all equal": lambda i: "Add",
    "all empty": lambda i: "",
    "beginnings of others": lambda i: "ab" * (_NUMBERS[i] % 50),
    "any characters": lambda i: _WORDS[i],
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("count", [0, 1, 5000, _COUNT])
def test_the_order_is_that_of_sorted(name: str, count: int, reverse: bool) -> None:
    things = range(count)
    found = last_of(sorted_by_text_in_steps(things, TEXTS[name], reverse=reverse))
    assert list(found) == sorted(things, key=TEXTS[name], reverse=reverse)
    assert all(type(index) is int for index in found)


def test_any_things_are_sorted() -> None:
    things = _CHANCE.sample(range(_COUNT), 9000)
    found = last_of(sorted_by_text_in_steps(things, TEXTS["some equal"]))
    assert list(found) == sorted(things, key=TEXTS["some equal"])


def test_texts_too_long_to_lay_side_by_side_are_sorted_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    things = range(9000)
    monkeypatch.setattr(text_sorting, "_MOST_BYTES", 1 << 10)
    found = last_of(sorted_by_text_in_steps(things, TEXTS["all different"]))
    assert list(found) == sorted(things, key=TEXTS["all different"])


def test_more_things_take_more_steps_and_not_longer_ones() -> None:
    """No step asks for more texts than the others, and their number grows with that of the things."""
    asked = [0]

    def text(thing: int) -> str:
        asked[-1] += 1
        return f"{thing * 7919 % _COUNT}"

    for _ in sorted_by_text_in_steps(range(_COUNT), text):
        asked.append(0)
    assert sum(asked) == _COUNT
    assert max(asked) <= 1024
    assert len(asked) > _COUNT / 1024 + 2 * _COUNT / 4096
