"""A shelf keeps a few large things in any case, and more where memory has room for them."""

from __future__ import annotations

import pytest

from tfdbg_cli.capture.replay import shelf
from tfdbg_cli.capture.replay.shelf import Shelf


@pytest.fixture
def missed() -> list[None]:
    return []


@pytest.fixture
def numbers(missed: list[None], monkeypatch: pytest.MonkeyPatch) -> Shelf[int]:
    """Numbers that take as many bytes as they say, where there is room for ten bytes."""
    monkeypatch.setattr(shelf, "room_for_later", lambda: 10)
    return Shelf(lambda number: number, lambda: missed.append(None))


def test_a_few_are_kept_whatever_they_take(numbers: Shelf[int], missed: list[None]) -> None:
    for key in "abcd":
        numbers.of(key, lambda: 1_000)
    assert [numbers.of(key, lambda: 0) for key in "abcd"] == [1_000] * 4
    assert not missed


def test_more_are_kept_as_long_as_there_is_room(numbers: Shelf[int], missed: list[None]) -> None:
    for key in "abcdefghij":
        numbers.of(key, lambda: 1)
    assert len(numbers.kept) == 10
    numbers.of("k", lambda: 1)
    assert len(numbers.kept) == 10
    numbers.of("l", lambda: 7)
    assert list(numbers.kept) == [1, 1, 1, 7], "the oldest gave way until there was room"
    assert not missed


def test_the_one_used_last_stays(numbers: Shelf[int], missed: list[None]) -> None:
    for key in "abcd":
        numbers.of(key, lambda: 9)
    numbers.of("a", lambda: 0)
    numbers.of("e", lambda: 9)
    assert numbers.of("a", lambda: 0) == 9
    assert not missed
    assert numbers.of("b", lambda: 8) == 8
    assert len(missed) == 1, "it had given way"


def test_what_raises_is_made_again(numbers: Shelf[int]) -> None:
    with pytest.raises(ZeroDivisionError):
        numbers.of("a", lambda: 1 // 0)
    assert numbers.of("a", lambda: 3) == 3
