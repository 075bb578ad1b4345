from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.model.lazy_values import LateNotes


def test_notes_are_found_out_once_when_somebody_looks() -> None:
    asked: list[int] = []

    def make() -> Iterator[str]:
        asked.append(1)
        yield from ("One.", "Two.")

    notes = LateNotes(make)
    assert not asked
    assert (len(notes), notes[0], notes[:1], list(notes)) == (2, "One.", ("One.",), ["One.", "Two."])
    assert notes == ("One.", "Two.") == notes
    assert notes != ("One.",) and notes != "One."
    assert hash(notes) == hash(("One.", "Two.")) and repr(notes) == "('One.', 'Two.')"
    assert asked == [1]


def test_no_notes_are_false() -> None:
    assert not LateNotes(tuple)
    assert LateNotes(lambda: ["One."])
