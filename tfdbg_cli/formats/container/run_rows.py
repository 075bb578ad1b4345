"""Writing one run into a recording: its elements into the data files, its rows into the index."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from tfdbg_cli.formats.container.contents import SharedContents, SharedTexts
from tfdbg_cli.formats.container.data_files import DataFiles, Location
from tfdbg_cli.formats.container.elements import ElementBytes, elements_of
from tfdbg_cli.formats.container.layout import HEADERS, RECORDING, shape_text
from tfdbg_cli.formats.container.lost_values import lost_at_saving, lost_value
from tfdbg_cli.formats.container.packed_columns import FACTS, PLACES, WORTH, packed
from tfdbg_cli.formats.container.program import Programs
from tfdbg_cli.formats.container.run_forms import RunForm, RunForms, tame
from tfdbg_cli.formats.recording.call_fields import call_fields, exactness_fields, profile_fields
from tfdbg_cli.formats.recording.json_fields import json_bytes
from tfdbg_cli.model.dtypes import element_type_named, name_of
from tfdbg_cli.model.exactness import same_bits
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary, has_numbers, summarize
from tfdbg_cli.model.tensors import Shape, Tensor, TensorStore, memory_of, nbytes_of, recorded_summary, valued_rows
from tfdbg_cli.model.values import Array, Lack, NoValue, Value, as_array

# Which tensors of a run have their values recorded; of the others there are statistics.
Selection: TypeAlias = Callable[[Run], Callable[[Tensor], bool]]

STATISTICS_ALONE = NoValue(Lack.GONE, "Of this tensor statistics were recorded, and no values.")
_WORTH_SHARING = 1 << 10  # bytes of a tensor; to find out whether a smaller one shares memory costs more
_FILE = PLACES["file"]  # where the row of a tensor says in which data file its elements are
_NBYTES = 7  # where the facts of a tensor have its size
_MOST_KINDS = 256  # of elements that are known to fit a type
_Columns: TypeAlias = tuple[int | None, ...]  # those of a location: file, offset, length, encoding
_NOWHERE: _Columns = (None, None, None, None)


@dataclass(frozen=True, slots=True)
class Written:
    """The result of writing a run: its number in the recording, and sentences about what was left out.

    `lost` are those about what was damaged or missing of it where it was read from, `lacking` is of how many tensors
    and feeds the values are lacking because of that.
    """

    run: int
    notes: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    lacking: int = 0


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the `tensors` of run `number` are written: those that are `wanted` with their values.

    `names` are those that they have in the data files, by place.
    """

    number: int
    tensors: Sequence[Tensor]
    form: RunForm
    names: Mapping[int, str]
    wanted: Callable[[Tensor], bool]


@dataclass(slots=True)
class _Found:
    """What the index is to hold of the tensors of a run.

    `unwritable` are the names of those whose values no recording can hold, `damaged` those whose values could not be
    read, tensors and feeds, with the reasons.
    """

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    summaries: list[tuple[Any, ...]] = field(default_factory=list)
    unwritable: list[str] = field(default_factory=list)
    damaged: list[tuple[str, NoValue]] = field(default_factory=list)


class RunRows:
    """Writes runs into `index` and `files`; the caller has to commit the one, flush the other, and call `keep`."""

    def __init__(self, index: sqlite3.Connection, files: DataFiles, *, compressed: bool = False) -> None:
        self._index = index
        self._files = files
        self._compressed = compressed
        self._texts = SharedTexts(index)
        self._contents = SharedContents(index)
        self._programs = Programs(self._contents)
        self._forms = RunForms()

    def keep(self) -> None:
        """Note that what was written is committed."""
        self._texts.keep()

    def forget(self) -> None:
        """Note that what was written since the last `keep` was rolled back."""
        self._texts.forget()
        self._forms.forget()
        self._programs.forget()

    def write(self, run: Run, number: int, selection: Selection | None) -> Written:
        """Write `run` as run `number` of the recording.

        Raises:
            OSError: a file cannot be written.
            sqlite3.Error: the index cannot be written.

        """
        plan, shown = self._planned(run, number, selection), _Shown(run.call.feeds)
        self._make_room(plan, run.call.feeds)
        found = self._write_tensors(run.tensors, plan, shown)
        self._index.executemany(f"INSERT INTO tensors VALUES ({', '.join('?' * 16)})", found.rows)
        self._index.executemany(f"INSERT INTO summaries VALUES ({', '.join('?' * 14)})", found.summaries)
        self._write_feeds(run.call.feeds, number, shown, found.damaged)
        lost = lost_at_saving(run, found.damaged)
        nbytes = sum(tensor.nbytes or 0 for tensor in plan.tensors)
        self._write_run(run, number, nbytes, lost, self._columns(found.rows, number))
        self._write_run_files(number, found.rows)
        return Written(number, _left_out(found.unwritable), lost, len(found.damaged))

    def _planned(self, run: Run, number: int, selection: Selection | None) -> _Plan:
        store = run.tensors
        tensors = [store[place] for place in range(len(store))]
        form = self._forms.of(tensors, valued_rows(store))
        names = {place: f"run {number}/{name}" for place, name in form.names.items()}
        return _Plan(number, tensors, form, names, _every if selection is None else selection(run))

    def _make_room(self, plan: _Plan, feeds: Iterable[str]) -> None:
        """Have the data files keep room for what is to come in a header."""
        kept = [(name, plan.tensors[place]) for place, name in plan.names.items()]
        kept = [(name, tensor) for name, tensor in kept if plan.wanted(tensor)]
        entries = [(name, None if tensor.dtype == "string" else tensor.shape) for name, tensor in kept]
        entries += [(_fed_name(plan.number, place, name), None) for place, name in enumerate(feeds)]
        self._files.begin_run(entries, [tensor.nbytes or 0 for _, tensor in kept])

    def _write_tensors(self, store: TensorStore, plan: _Plan, shown: _Shown) -> _Found:
        """Write the elements of the tensors of `store`, and return what the index is to hold of them.

        `shown` is told which values were written, and where.
        """
        found = _Found()
        shared: dict[tuple[int, int], Location] = {}
        for place in plan.form.order:
            tensor = plan.tensors[place]
            value = store.value(place)
            if isinstance(value, NoValue) or not plan.wanted(tensor):
                value, summary = _told(store, place, value)
                found.summaries += [] if summary is None else [_summary_row(plan.number, place, summary)]
            shareable = not isinstance(value, NoValue) and value.nbytes >= _WORTH_SHARING
            memory = memory_of(store, place) if shareable else None
            dtype, shape, lack, location = self._value(tensor, value, plan.names.get(place, ""), memory, shared)
            if lack is None:
                shown.add(tensor.name, value, location)
            elif lack is not value:
                found.unwritable.append(str(tensor.name))
            elif lack.lack is Lack.DAMAGED:
                found.damaged.append((str(tensor.name), lack))
            told = None if lack is None else self._texts.number(f"{lack.lack}: {lost_value(lack).text}")
            facts = self._facts(plan.form, place, dtype, shape)
            if tensor.nbytes is None and lack is None and not isinstance(value, NoValue):  # strings, read only now
                facts = (*facts[:_NBYTES], nbytes_of(value), *facts[_NBYTES + 1 :])
            found.rows.append((plan.number, place, *facts, told, *location))
        found.rows.sort()  # SQLite fills its pages only if rows are inserted in the order of the key
        return found

    def _write_run_files(self, number: int, rows: Sequence[tuple[Any, ...]]) -> None:
        """Write which data files run `number` is in; `rows` are those of its tensors."""
        files = {(number, row[_FILE]) for row in rows if row[_FILE] is not None}
        files |= {(number, file) for (file,) in self._index.execute(_FEED_FILES, (number,))}
        self._index.executemany("INSERT INTO run_files VALUES (?, ?)", sorted(files))

    def _value(
        self, tensor: Tensor, value: Value, name: str, memory: int | None, shared: dict[tuple[int, int], Location]
    ) -> tuple[str, Shape | None, NoValue | None, _Columns]:
        """Write the `value` of `tensor`; returns dtype and shape for its row, why there is no value (or None), and
        the columns of its location.

        Values that share `memory` (an address) are written once: `shared` has their locations by address and bytes.
        """
        if isinstance(value, NoValue):
            return tensor.dtype, tensor.shape, value, _NOWHERE
        try:
            elements = elements_of(value, _fitting(value.dtype, tensor.dtype), compressed=self._compressed)
        except ValueError as error:
            lack = NoValue(Lack.GONE, f"It could not be recorded: {error}.")
            return tensor.dtype, tensor.shape, lack, _NOWHERE
        location = _place(self._written(name, elements, memory, value.nbytes, shared))
        return elements.dtype, value.shape, None, location

    def _facts(self, form: RunForm, place: int, dtype: str, shape: Shape | None) -> tuple[int | None, ...]:
        """The columns of the row of the tensor at `place` that describe it, without its location."""
        known = form.numbers.get(place)
        if known is not None and known[0] == dtype and known[1] == shape:
            return known[2]
        tensor, number = form.tensors[place], self._texts.number
        length = None if shape is None else number(shape_text(shape))
        found = (
            number(tensor.node), tensor.slot, number(tensor.device), tensor.execution, number(dtype),
            number(tensor.op_type), length, tensor.nbytes, tensor.time_us,
        )  # fmt: skip
        form.numbers[place] = dtype, shape, found
        return found

    def _written(
        self,
        name: str,
        elements: ElementBytes,
        memory: int | None,
        nbytes: int,
        shared: dict[tuple[int, int], Location],
    ) -> Location:
        """The location of `elements`, which are written unless the same memory was written before."""
        if memory is None or not nbytes:
            return self._files.add(name, elements)
        found = shared.get((memory, nbytes))
        if found is None:
            found = shared[memory, nbytes] = self._files.add(name, elements)
        return found

    def _write_feeds(
        self, feeds: Mapping[str, Any], number: int, shown: _Shown, damaged: list[tuple[str, NoValue]]
    ) -> None:
        rows: list[tuple[Any, ...]] = []
        for place, (name, value) in enumerate(feeds.items()):
            row: tuple[Any, ...] = (None, None, *_NOWHERE)
            if isinstance(value, NoValue):
                damaged += [(name, value)] if value.lack is Lack.DAMAGED else []
            elif value is not None:
                try:
                    array = as_array(value)
                    elements = elements_of(array, _fitting(array.dtype, ""), compressed=self._compressed)
                except (ValueError, TypeError):
                    pass  # nothing that an array can hold: a sparse tensor, an unknown object
                else:
                    location = shown.location(name, array)
                    if location is None:
                        location = _place(self._files.add(_fed_name(number, place, name), elements))
                    shape = self._texts.number(shape_text(array.shape))
                    row = (self._texts.number(elements.dtype), shape, *location)
            rows.append((number, place, self._texts.number(name), *row))
        self._index.executemany(f"INSERT INTO feeds VALUES ({', '.join('?' * 9)})", rows)

    def _columns(self, rows: Sequence[tuple[Any, ...]], number: int) -> dict[str, Any]:
        """What the description of a run says of the columns of its `rows`."""
        if len(rows) < WORTH:
            return {}
        contents = packed(rows, FACTS), packed(rows, PLACES, number)
        return {"columns": [self._contents.number(content) for content in contents]}

    def _variables(self, run: Run) -> dict[str, Any]:
        """What the description of a run says of its variables; runs of one kind say the same, which is kept once."""
        trainable = {} if run.variables is None else dict(run.variables.trainable)
        return {"variables": self._contents.number(json_bytes({"trainable": trainable}))} if trainable else {}

    def _write_run(self, run: Run, number: int, nbytes: int, lost: Sequence[str], columns: dict[str, Any]) -> None:
        description = {
            "call": call_fields(run.call),
            "error": None if run.error is None else asdict(run.error),
            "notes": list(run.notes),
            "lacks": run.lacks,
            "gaps": run.gaps,
            "cut_off": run.cut_off,
            "unfinished": run.unfinished,
            "exactness": exactness_fields(run.exactness),
            "profile": None
            if run.profile is None
            else self._contents.number(json_bytes(profile_fields(run.profile))),
            RECORDING: self._files.recording,
            HEADERS: [[one.file, one.length, one.crc] for one in self._files.header_sums()],
            **({"lost": list(lost)} if lost else {}),
            **self._variables(run),
            **columns,
        }
        row = (
            number, run.call.number, self._texts.number(run.call.title), len(run.tensors), nbytes,
            time.time_ns() // 1000, self._programs.number(run), json_bytes(description).decode("ascii"),
        )  # fmt: skip
        self._index.execute(f"INSERT INTO runs VALUES ({', '.join('?' * 8)})", row)


class _Shown:
    """The tensors of a run that show what was fed: their elements are written once."""

    def __init__(self, feeds: Mapping[str, Any]) -> None:
        self._names = {tensor_name_of(name): name for name in feeds}
        self._found: dict[str, tuple[Array, _Columns]] = {}

    def add(self, name: TensorName, value: Value, location: _Columns) -> None:
        """Note that the elements of the tensor `name`, whose value is `value`, are at `location`."""
        feed = self._names.get(name)
        if feed is not None and not isinstance(value, NoValue):
            self._found[feed] = value, location

    def location(self, feed: str, fed: Array) -> _Columns | None:
        """Where elements of the same bits as those `fed` as `feed` are already; None if nowhere."""
        found = self._found.get(feed)
        return found[1] if found is not None and same_bits(found[0], fed) else None


_FEED_FILES = "SELECT DISTINCT file FROM feeds WHERE run = ? AND file IS NOT NULL"


def _every(_tensor: Tensor) -> bool:
    return True


def _place(location: Location) -> tuple[int, ...]:
    return location.file, location.offset, location.stored, location.encoding


@lru_cache(_MOST_KINDS)
def _fitting(own: np.dtype[Any], dtype: str) -> str:
    """The name of the element type to write an array of `own` under: `dtype` if it fits, else its own."""
    element = element_type_named(dtype)
    if element is not None and element.numpy is not None:
        same = own.newbyteorder("=") == element.numpy
        if same or own.names or (element.name == "string" and own.kind in "OSU"):
            return element.name
    return name_of(own)


def _fed_name(number: int, place: int, name: str) -> str:
    return f"run {number}/fed/{place}/{tame(name)}"


def _told(store: TensorStore, place: int, value: Value) -> tuple[NoValue, Summary | None]:
    """What is recorded in the place of a value: why there is none, and statistics."""
    if isinstance(value, NoValue):
        recorded = recorded_summary(store, place)
        return value, None if recorded is None or recorded.unknown or recorded.spoiled else recorded
    return STATISTICS_ALONE, summarize(value) if has_numbers(value) else None


def _summary_row(run: int, place: int, summary: Summary) -> tuple[Any, ...]:
    s = summary
    return (
        run, place, s.size, s.nan, s.neg_inf, s.pos_inf, s.neg, s.zero, s.pos, _real(s.min), _real(s.max),
        s.mean, s.std, int(s.of_magnitude),
    )  # fmt: skip


def _real(number: float | None) -> float | None:
    """As the column holds it: SQLite takes no integer of more than 64 bits."""
    return None if number is None else float(number)


def _left_out(names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    if len(names) == 1:
        return (f"The value of 1 tensor was not recorded: TensorFlow has no type for it ({names[0]!r}).",)
    first = f"(first {names[0]!r})"
    return (f"The values of {len(names)} tensors were not recorded: TensorFlow has no types for them {first}.",)
