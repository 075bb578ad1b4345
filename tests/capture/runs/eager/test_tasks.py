"""Tasks of asyncio whose steps are mixed in one thread are told of."""

from __future__ import annotations

import asyncio

from tfdbg_cli.capture.runs.eager.program.tasks import note_of_tasks


async def _worker(notes: list[str]) -> None:
    for _ in range(2):
        await asyncio.sleep(0)
        notes.append(note_of_tasks(_worker.__code__))


async def _other() -> None:
    await asyncio.sleep(0.001)


def test_several_tasks_in_one_loop_are_told_and_others_are_not() -> None:
    """A blind test: two workers under asyncio.gather were mixed without a word."""
    notes: list[str] = []

    async def both() -> None:
        await asyncio.gather(_worker(notes), _worker(notes), _other())

    async def one() -> None:
        await asyncio.gather(_worker(notes), _other())

    asyncio.run(both())
    assert notes[0].startswith("2 tasks of asyncio are in this loop in one thread")
    notes.clear()
    asyncio.run(one())
    assert notes == ["", ""]
    assert note_of_tasks(_worker.__code__) == ""
