"""The list of what counts as fine: numbers that stay, what was said twice, what is taken back."""

from __future__ import annotations

from tfdbg_cli.model.ignored import Ignored, IgnoredBy, IgnoredPlace
from tfdbg_cli.model.names import TensorName


def _said(name: str, *nodes: str, by: IgnoredBy = IgnoredBy.NODE) -> IgnoredPlace:
    place = TensorName(name, 0)
    return IgnoredPlace(1, "f", place, "Log", "NaN", "said", False, (name, *nodes), by=by, name=name, named=(name,))


def _found(name: str) -> IgnoredPlace:
    return IgnoredPlace(1, "f", TensorName(name, 0), "Log", "NaN", "harmless", False, (name,))


def test_a_number_stays_when_another_place_is_taken_back() -> None:
    ignored = Ignored([_found("a")])
    assert [ignored.say(_said("b")), ignored.say(_said("c"))] == [2, 3]
    assert ignored.withdraw(2) == _said("b")
    assert ignored.withdraw(2) is None
    assert [number for number, _ in ignored.numbered] == [1, 3]
    assert ignored.say(_said("d")) == 4, "a number is not given twice"
    assert [place.name for place in ignored.by_hand] == ["c", "d"]


def test_what_is_said_again_is_one_place() -> None:
    ignored = Ignored()
    assert ignored.say(_said("a", "b")) == ignored.say(_said("a", "c")) == 1
    assert ignored[0].nodes == ("a", "b", "c")
    assert ignored.say(_said("a", by=IgnoredBy.LAYER)) == 2, "a layer of that name is another thing"


def test_what_came_with_a_recording_is_taken_over_once() -> None:
    ignored = Ignored()
    for _ in range(2):
        ignored.adopt([_said("a"), _found("b")])
    assert [place.title for place in ignored] == ["the node a", "NaN of which nothing comes at b:0"]
    assert list(ignored[0:1]) == [ignored[0]] and bool(ignored)
