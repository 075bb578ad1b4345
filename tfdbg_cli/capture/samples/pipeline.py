"""The data set of an iterator, and rows of batches looked for in what it was made of."""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import tensorflow as tf

from tfdbg_cli.capture.failures import report_bug
from tfdbg_cli.capture.samples.map_functions import parsed_key
from tfdbg_cli.capture.samples.named_parts import keys_of, words_of_rows
from tfdbg_cli.capture.samples.pipeline_search import looked_for
from tfdbg_cli.capture.samples.recipe import DataSetRecipe, OpenedFiles, recipe_of
from tfdbg_cli.capture.samples.run_again import file_of, functions_in
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.reentrancy import INSIDE, LOOKING_AT_DATA
from tfdbg_cli.errors import TfdbgError, reason_of
from tfdbg_cli.model.records import FoundRecords, Record, SoughtRow
from tfdbg_cli.model.units import count_text
from tfdbg_cli.process.interruptions import our_errors

_GONE = "The program does not hold the data set any more, from which the batch came."
_NO_BATCHES = "No data set makes batches there: each batch is one element of it, and its rows are no records."
_BY_CONTENT = "The record is told by what the row holds, compared bit by bit with {}."
_AGAIN = "what the functions of the pipeline make of each record"
_PLAIN = "each record"
_COUNTED = "A record is a number that Dataset.range gave, by which functions read the data: no place in an array."
_CUT = "Not looked further than {} within {:g} s: `input --seconds N` looks for longer."
_NONE = (
    "No record is as {}, bit by bit: the data were changed since, a function gives something else each time, or"
    " one behind `batch` mixes records."
)
_MIXED = "The functions behind `batch` mix records, or move them: of what {} made cannot be told."
_FILLED_UP = "A function behind `batch` fills records up to one width: zeros at their end are not compared."
_MOVED = "The functions behind `batch` move rows: whether other records are alike is not told."
_NOT_COMPARED = "No part of the batch is as one of the data set's elements: nothing can be compared."
_FAILED = "The pipeline could not be run again: {}"


@dataclass(frozen=True)
class Pipeline:
    """A data set, held weakly. Rows are looked for by running its functions on its records again."""

    dataset: weakref.ref[Any]
    quick: ClassVar[bool] = False

    def find(self, rows: Sequence[SoughtRow], component: int, seconds: float) -> FoundRecords:
        """See `DataBehind`. Python of the program is not called, and nothing random is drawn."""
        dataset = self.dataset()
        if dataset is None:
            return FoundRecords(notes=(_GONE,))
        try:
            with INSIDE, LOOKING_AT_DATA, tf.init_scope(), tf.device("/cpu:0"):
                return _found_in(dataset, rows, component, seconds)
        except TfdbgError as error:
            return FoundRecords(notes=(error.message,))
        except OpError as error:
            return FoundRecords(notes=(_FAILED.format(_words_of(error)),))
        except our_errors() as error:  # data sets of another TensorFlow
            report_bug("run a pipeline again", error)
            return FoundRecords(notes=(_FAILED.format(reason_of(error)),))


def _words_of(error: OpError) -> str:
    """The first line of an error, without the names of our own ops."""
    first = re.sub(r"{{.*?}}\s*|\[Op:\w+\].*", "", error.message.partition("\n")[0])
    return f"{type(error).__name__}: {first.strip()}"


def _found_in(dataset: Any, rows: Sequence[SoughtRow], component: int, seconds: float) -> FoundRecords:
    recipe = recipe_of(dataset)
    if recipe.batch is None:
        return FoundRecords(notes=(_NO_BATCHES,))
    found = looked_for(rows, recipe, seconds)
    if found is None:
        return FoundRecords(notes=(_NOT_COMPARED,))
    notes = [_BY_CONTENT.format(_AGAIN if functions_in(recipe) else _PLAIN)]
    if recipe.counts:
        notes.append(_COUNTED)
    if found.filled_up and found.first:
        notes.append(_FILLED_UP)
    if found.cut:
        notes.append(_CUT.format(f"the first {count_text(found.looked_at, 'record')}", seconds))
    if found.mixed:
        are = "is" if len(found.mixed) == 1 else "are"
        notes.append(_MIXED.format(f"{words_of_rows(sorted(found.mixed))} {are}"))
    if found.moved:
        notes.append(_MOVED)
    missing = [row.row for row in rows if row.row not in found.first and row.row not in found.mixed]
    if missing and not found.cut:
        notes.append(_NONE.format(words_of_rows(missing)))
    key = _key(dataset, recipe, component)
    records = {}
    for row, (file, number) in found.first.items():
        record = Record(number, file, key, found.alike[row])
        whole = "" if isinstance(recipe.source, OpenedFiles) else file_of(recipe, number)
        records[row] = replace(record, file=whole, record=0) if whole else record
    return FoundRecords(records, tuple(notes))


def _key(dataset: Any, recipe: DataSetRecipe, component: int) -> str:
    """What the program calls the part of an element: its key in a dict, or the feature that it was parsed from."""
    keys = list(keys_of(dataset.element_spec))
    key = keys[component] if component < len(keys) else ""
    return key or parsed_key(recipe.functions, component)
