"""The records of the program's data: which of them stand behind rows of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tfdbg_cli.model.values import Array


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the data: number `record`, from 0, of `file`, or of the data in memory where that is empty.

    `record` is None where the number cannot be told. `key` is what the program calls the array, or the feature.
    `alike` are how many records hold the same as this one, which is the first of them.
    """

    record: int | None
    file: str = ""
    key: str = ""
    alike: int = 1


@dataclass(frozen=True, slots=True)
class SoughtRow:
    """A row of a batch whose record is asked for: its `parts`, by their places among the tensors of the batch.

    `number` is the one of the sample in the order of the data; None where that order is not known.
    """

    row: int
    parts: Mapping[int, Array]
    number: int | None = None


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """The records of rows, as far as they were found, and in sentences what they were found by, or what hid them."""

    records: Mapping[int, Record] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class DataBehind(Protocol):
    """The data that some batches were made of. Looks for records when it is asked, and never keeps the data alive.

    `quick` says that a row is found without running anything of the program's.
    """

    @property
    def quick(self) -> bool: ...

    def find(self, rows: Sequence[SoughtRow], component: int, seconds: float) -> FoundRecords:
        """The records behind `rows`, looked for no longer than about so many `seconds`.

        `component` is the part of the batch that is asked about, for `Record.key`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Behind:
    """The data behind a tensor that is part `component` of a batch, or behind an iterator, where that is None."""

    data: DataBehind
    component: int | None = None
