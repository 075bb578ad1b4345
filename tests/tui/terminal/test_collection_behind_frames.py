"""When garbage is looked for while a screen is up: behind a frame, and never among all objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tfdbg_cli.tui.terminal.collection import collect_behind_a_frame, no_full_collection


@pytest.fixture
def passes() -> Iterator[list[int]]:
    """The generations that the collector looked at, while it looks at nothing unasked."""
    seen: list[int] = []

    def note(phase: str, told: dict[str, int]) -> None:
        if phase == "stop":
            seen.append(told["generation"])

    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(1 << 30)
    gc.callbacks.append(note)
    try:
        yield seen
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*before)


def test_few_new_objects_are_left_to_a_later_frame(passes: list[int]) -> None:
    kept = [[] for _ in range(1000)]
    collect_behind_a_frame()
    assert passes == [] and kept


def test_new_objects_are_looked_at_and_now_and_then_those_that_were_left(passes: list[int]) -> None:
    kept = []
    for _ in range(10):
        kept.append([[] for _ in range(3000)])
        collect_behind_a_frame()
    assert passes == [0, 0, 0, 0, 1, 0, 0, 0, 0, 1]


def test_what_refers_to_itself_and_to_nothing_else_is_freed() -> None:
    with no_full_collection():
        gc.collect()
        for _ in range(3000):
            mine: list[object] = []
            mine.append(mine)
        collect_behind_a_frame()
        assert gc.collect() < 100


def test_a_program_that_does_without_the_collector_is_obeyed(passes: list[int]) -> None:
    kept = [[] for _ in range(3000)]
    gc.disable()
    try:
        collect_behind_a_frame()
    finally:
        gc.enable()
    gc.set_threshold(0)
    with no_full_collection():
        assert gc.get_threshold()[0] == 0
        collect_behind_a_frame()
    assert passes == [] and kept


def test_afterwards_the_collector_is_as_it_was() -> None:
    before = gc.get_threshold()
    with no_full_collection():
        assert gc.get_threshold()[2] > 1_000_000
    assert gc.get_threshold() == before
