"""Recordings for scripts and notebooks: runs, queries for their tensors, and values as arrays read on access."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.named import asked_query
from tfdbg_cli.commands.query.tensor_rows import TensorRows
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import Tensor, part_of, summary_of
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.model.whole_numbers import whole_number

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]

_MOST_ROWS = 60  # of a table in a notebook


@dataclass(frozen=True, eq=False)
class SavedTensor:
    """One tensor of a run of a recording; elements are read on access.

    `np.asarray(tensor)` is the whole value; `tensor[0, :10]` reads only that part of a large one. Both raise
    TfdbgError where no value was recorded; `index` is the place of the tensor in `run.tensors`.
    """

    run: Run
    index: int
    facts: Tensor = field(repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SavedTensor) and self.run is other.run and self.index == other.index

    def __hash__(self) -> int:
        return hash((id(self.run), self.index))

    @property
    def name(self) -> str:
        """`node:slot`."""
        return str(self.facts.name)

    @property
    def dtype(self) -> str:
        """TensorFlow's name of the element type."""
        return self.facts.dtype

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The lengths of the axes; None where they are not known."""
        return self.facts.shape

    @property
    def value(self) -> Array:
        """The whole array; that of a large tensor is mapped from the file rather than read.

        Raises:
            TfdbgError: there is no value; the message says why.

        """
        found = self.run.tensors.value(self.index)
        if isinstance(found, NoValue):
            raise TfdbgError(f"{self.name} has no value: {found.text}")
        return found

    @property
    def summary(self) -> Summary | None:
        """Counts and moments: those recorded, else computed from the value; None where there is neither."""
        return summary_of(self.run.tensors, self.index)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        found = np.asarray(self.value, dtype)
        return found.copy() if copy else found

    def __getitem__(self, index: Any) -> Any:
        found = part_of(self.run.tensors, self.index, index)
        if isinstance(found, NoValue):
            raise TfdbgError(f"{self.name} has no value: {found.text}")
        return found

    def __repr__(self) -> str:
        return f"<{self.name} of run #{self.run.call.number}: {self.dtype} {self._lengths}>"

    @property
    def _lengths(self) -> str:
        return "of unknown shape" if self.shape is None else str(list(self.shape))

    @property
    def row(self) -> Mapping[str, Any]:
        """What is known without the value, as a row of a table; the names are those of `lt --json`."""
        facts = self.facts
        return {
            "run": self.run.call.number,
            "name": self.name,
            "op_type": facts.op_type,
            "dtype": facts.dtype,
            "shape": facts.shape,
            "nbytes": facts.nbytes,
            "execution": facts.execution,
            "device": facts.device,
        }


class SavedTensors(Sequence[SavedTensor]):
    """Tensors of one run, in the order of their execution; each is made when it is looked at."""

    def __init__(self, run: Run, rows: Sequence[int]) -> None:
        self._run = run
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> SavedTensor: ...

    @overload
    def __getitem__(self, index: slice) -> SavedTensors: ...

    @overload
    def __getitem__(self, index: str) -> SavedTensor: ...

    def __getitem__(self, index: int | slice | str) -> SavedTensor | SavedTensors:
        """By position, slice, or name (`node:slot`, or a node): its last execution.

        Raises:
            IndexError: there is no tensor at that position; the message says how many there are.
            KeyError: there is none of that name.

        """
        if isinstance(index, slice):
            return SavedTensors(self._run, self._rows[index])
        if isinstance(index, str):
            return self._named(index)
        if not -len(self) <= index < len(self):
            there = count_text(len(self), "tensor")
            raise IndexError(f"There is no tensor at the place {index}: {there} of run #{self._run.call.number}.")
        row = self._rows[index]
        return SavedTensor(self._run, row, self._run.tensors[row])

    def __repr__(self) -> str:
        return f"<{count_text(len(self), 'tensor')} of run #{self._run.call.number}>"

    def _named(self, text: str) -> SavedTensor:
        node, _, end = text.rpartition(":")
        slot = whole_number(end)
        name = TensorName(text, 0) if not node or slot is None else TensorName(node, slot)
        found = set(self._rows).intersection(self._run.tensors.named(name.node, name.slot))
        if not found:
            raise KeyError(text)
        row = max(found)
        return SavedTensor(self._run, row, self._run.tensors[row])

    def to_pandas(self) -> pd.DataFrame:
        """A row for each tensor, with what is known without its value.

        Raises:
            TfdbgError: pandas is not installed.

        """
        return _data_frame([tensor.row for tensor in self])

    def _repr_html_(self) -> str:
        shown = [tensor.row for tensor in self[:_MOST_ROWS]]
        more = len(self) - len(shown)
        return _table(shown) + (f"<p>… {more:,} more</p>" if more else "")


@dataclass(frozen=True, repr=False)
class Recording(Opened):
    """Runs on disk: `runs` is a sequence whose items are read on access; the methods query their tensors."""

    def __repr__(self) -> str:
        return f"<{self.path}: {count_text(len(self.runs), 'run')}>"

    def tensors(self, query: str = "", run: int = -1) -> SavedTensors:
        """The tensors that match `query`, in `runs[run]` (by default the last run).

        Queries are those of `lt -q`: `"dense shape=[*,128]"`, `"size>1MB or nan>0"`; an empty one matches all.

        Raises:
            TfdbgError: the query makes no sense, `run` is no whole number, or the run cannot be read.
            IndexError: there is no such run.

        """
        if not isinstance(run, SupportsIndex):
            raise TfdbgError(
                f"{run!r} is no place of a run.", hint="Write a whole number: 0 is the first run, -1 the last."
            )
        if not -len(self.runs) <= run < len(self.runs):
            there = count_text(len(self.runs), "run")
            raise IndexError(f"There is no run at the place {run}: {self.path} has {there}.")
        looked_at = self.runs[run]
        everything = range(len(looked_at.tensors))
        if not query:
            return SavedTensors(looked_at, everything)
        context = Context(self)
        context.current = range(len(self.runs))[run]
        for answer in TensorRows(context).select(asked_query(query), everything):
            if answer is not None:
                return SavedTensors(looked_at, answer.indices)
        return SavedTensors(looked_at, ())

    def history(self, name: str) -> Iterator[SavedTensor]:
        """The tensor `name` (`node:slot`, or a node) of every run that has it, the oldest first."""
        for place in range(len(self.runs)):
            try:
                yield self.tensors(run=place)[name]
            except KeyError:
                continue

    def to_pandas(self) -> pd.DataFrame:
        """A row for each run.

        Raises:
            TfdbgError: pandas is not installed.

        """
        return _data_frame([_run_row(run) for run in self.runs])

    def _repr_html_(self) -> str:
        shown = [_run_row(run) for run in self.runs[:_MOST_ROWS]]
        more = len(self.runs) - len(shown)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<p>{html.escape(self.path)}</p>{notes}{_table(shown)}" + (f"<p>… {more:,} more</p>" if more else "")


def _data_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A table of pandas with these rows. Raises TfdbgError where pandas is not installed."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise TfdbgError("This table needs pandas, which is not installed.", hint="pip install pandas") from None
    return pd.DataFrame(rows)


def _run_row(run: Run) -> dict[str, Any]:
    error = run.error.type_name if run.error else ""
    told = {"run": run.call.number, "called": run.call.title, "tensors": len(run.tensors), "error": error}
    return {**told, "worker": run.call.worker} if run.call.worker else told


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "<p>Nothing.</p>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row.values())}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def open_recording(path: str | os.PathLike[str]) -> Recording:
    """The recording at `path`, in any format that `tfdbg open` knows. TensorFlow is not needed.

    `path` may be an address that fsspec knows, such as `gs://bucket/run`.

    Raises:
        TfdbgError: there is nothing there, or nothing that tfdbg can open; the hint says what it opens.

    """
    opened = open_path(os.fsdecode(path))
    notes, opening = opened.notes, opened.opening
    return Recording(opened.path, opened.runs, opened.current, notes, opening, workers=opened.workers)
