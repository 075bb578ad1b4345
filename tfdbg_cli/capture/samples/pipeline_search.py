"""Rows looked for among what a recipe makes of its records, run once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

import numpy as np

from tfdbg_cli.analysis.batch.record_search import RecordMatch, RecordSearch
from tfdbg_cli.capture.samples.filled_up import refilled
from tfdbg_cli.capture.samples.recipe import DataSetRecipe
from tfdbg_cli.capture.samples.run_again import Stretch, blocks, each_alone, stretches
from tfdbg_cli.model.records import SoughtRow
from tfdbg_cli.model.values import Array


@dataclass(slots=True)
class FoundInPipeline:
    """What was found so far: of each row the file and number of the first record, and how many are alike.

    `mixed` are rows that no record alone is made into: the functions behind `batch` mix records. `looked_at` is the
    number of records; `cut` says that the time was over before their end, `moved` that functions behind `batch` move
    rows, so that it is not known how many records are alike, and `filled_up` that they are compared without what
    filled them up to the width of their batch.
    """

    first: dict[int, tuple[str, int]] = field(default_factory=dict)
    alike: dict[int, int] = field(default_factory=dict)
    mixed: set[int] = field(default_factory=set)
    looked_at: int = 0
    cut: bool = False
    moved: bool = False
    filled_up: bool = False

    def as_wide(
        self, numbers: Array, block: dict[int, Array], shapes: dict[int, tuple[int, ...]]
    ) -> tuple[Array, dict[int, Array]]:
        """The records of a block, filled up to `shapes` where they are to others; without those that hold more."""
        other = refilled(numbers, block, shapes)
        self.filled_up |= other is not None
        return other or (numbers, block)


def looked_for(rows: Sequence[SoughtRow], recipe: DataSetRecipe, seconds: float) -> FoundInPipeline | None:
    """Look for the rows until the data or the time are at their end; None where nothing can be compared."""
    found, compared = FoundInPipeline(), False
    until = monotonic() + seconds
    shapes = _shapes(rows)
    for stretch in stretches(recipe):
        search: RecordSearch | None = None
        near: dict[int, Array] = {}  # the numbers of the records about the one that was found, of each row
        for numbers, block in blocks(stretch, recipe, shapes):
            if found.looked_at and monotonic() > until:
                found.cut = True
                break
            is_of_these = _is_of(numbers, block)
            found.looked_at += len(numbers) if is_of_these else 0
            together = numbers
            if _goes_on(recipe):
                numbers, block = found.as_wide(numbers, block, shapes)
            search = search or _search(rows, block)
            if search is not None and is_of_these:
                compared = True
                search.look(block, numbers)
                near |= {row: together for row in search.matches.keys() - near.keys()}
            elif search is not None:
                left = [row for row in rows if row.row not in search.matches]
                near |= dict.fromkeys(_matched(left, block), numbers)
                search.matches |= {row: RecordMatch(int(numbers[0])) for row in near.keys() - search.matches.keys()}
        if search is not None:
            _take(found, search, stretch, recipe, {row.row: row for row in rows}, near)
        if found.cut:
            break
    found.mixed -= found.first.keys()
    return found if compared or found.filled_up or not found.looked_at else None


def _take(
    found: FoundInPipeline,
    search: RecordSearch,
    stretch: Stretch,
    recipe: DataSetRecipe,
    sought: dict[int, SoughtRow],
    near: dict[int, Array],
) -> None:
    """Take what was found in a stretch."""
    alone = _goes_on(recipe)
    for row, match in search.matches.items():
        number = _own(found, stretch, recipe, sought[row], match.first, near[row]) if alone else match.first
        if number is None:
            found.mixed.add(row)
            continue
        moved = number != match.first
        found.moved |= moved
        found.first.setdefault(row, (stretch.file, number))
        found.alike[row] = found.alike.get(row, 0) + (1 if moved else match.alike)


def _own(
    found: FoundInPipeline, stretch: Stretch, recipe: DataSetRecipe, row: SoughtRow, number: int, near: Array
) -> int | None:
    """The record that by itself is made into what `row` holds, of `number` and those `near` it; None if none is."""
    for numbers in (np.array([number]), near):
        for alone, block in each_alone(stretch, recipe, numbers):
            itself, comparable = found.as_wide(np.array([alone]), block, _shapes([row]))
            search = _search([row], comparable)
            if search is not None:
                search.look(comparable, itself)
                if search.matches:
                    return alone
    return None


def _goes_on(recipe: DataSetRecipe) -> bool:
    """Whether functions work on the batches, which may move their rows, or fill them up."""
    return recipe.steps[-1] is not recipe.batch


def _shapes(rows: Sequence[SoughtRow]) -> dict[int, tuple[int, ...]]:
    """The shape of each part of the rows, which are of one batch."""
    return {part: value.shape for part, value in rows[0].parts.items()} if rows else {}


def _is_of(numbers: Array, block: dict[int, Array]) -> bool:
    """Whether the rows of `block` are of the records with these `numbers`."""
    return all(len(part) == len(numbers) for part in block.values())


def _matched(rows: Sequence[SoughtRow], block: dict[int, Array]) -> list[int]:
    """Those of `rows` that `block` has, wherever."""
    search = _search(rows, block) if rows else None
    if search is None:
        return []
    search.look(block, np.zeros(len(next(iter(block.values()))), np.int64))
    return list(search.matches)


def _search(rows: Sequence[SoughtRow], block: dict[int, Array]) -> RecordSearch | None:
    """A search for the rows by the parts that they have; None where an element has none of them."""
    parts = [at for at in sorted(block) if all(at in row.parts for row in rows)]
    search = RecordSearch(rows, parts) if parts else None
    return search if search is not None and search.fits(block) else None
