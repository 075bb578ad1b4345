"""How a data set was made: a source whose elements are records, and what is done to each of them in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.samples.map_functions import PYTHON, READERS, in_the_way, op_types, skipped_of_file
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.values import Array

# What hands on the elements as they come.
_SAME = frozenset({
    "PrefetchDataset", "CacheDataset", "OptionsDataset", "AssertCardinalityDataset", "SnapshotDataset",
})  # fmt: skip
# What changes which elements come, and when, but none of them. Those that it leaves out may be found all the same.
_ORDER = frozenset({
    "ShuffleDataset", "RepeatDataset", "TakeDataset", "SkipDataset", "ShardDataset", "TakeWhileDataset",
    "UniqueDataset", "IgnoreErrorsDataset",
})  # fmt: skip
_MAPS = frozenset({"MapDataset", "ParallelMapDataset"})
_BATCHES = frozenset({"BatchDataset", "ParallelBatchDataset"})
_PADDED = "PaddedBatchDataset"
_OF_EACH = frozenset({"FlatMapDataset", "InterleaveDataset", "ParallelInterleaveDataset"})
_SOURCES = frozenset({"TensorSliceDataset", "RangeDataset", "TensorDataset"})
_STUCK = "The pipeline has {}: which record an element came from cannot be told."
_MAP = "A map of the pipeline {}: what it gave cannot be made again to be compared."
_GENERATED = "The data come from Python of the program, which is not called again: a generator, a Keras Sequence."
_SPARSE = "The pipeline has sparse or ragged elements, or others that are no plain tensors: these are not compared."
_TWICE = "The pipeline makes batches of batches: what is a record cannot be told."
_MOST = 200  # data sets made of one another


@dataclass(frozen=True)
class Batched:
    """Elements put together, always `size` of them; None: of any number. `full` is what most hold, if that is known.

    Where they differ in their lengths, `padding` is what each of their parts is filled up with; empty for none.
    """

    size: int | None
    padding: tuple[Array, ...] = ()
    full: int | None = None


@dataclass(frozen=True)
class Filtered:
    """Elements left out, those of which `keeps` is false: functions that come later may not be made for them."""

    keeps: Any


@dataclass(frozen=True)
class OpenedFiles:
    """The source of records of files: `open`, called with each element of `names`, gives those of one file.

    It leaves the first `skipped` ones out. `spec` is that of a record.
    """

    names: DataSetRecipe
    open: Any
    skipped: int
    spec: Any


@dataclass(frozen=True)
class Zipped:
    """The source whose records are put together from those of others; `spec` is that of all."""

    parts: tuple[DataSetRecipe, ...]


@dataclass(frozen=True)
class DataSetRecipe:
    """What the elements of a data set are made of: `source`, a data set of TensorFlow's unless it is one of ours.

    `steps` are the functions that are called with each, in turn, the filters, and the batches that are made of them.
    Of the records of the source the first ones are left out, those before number `begin`, and those from `end` on.
    `in_order` says that they come one by one as in the source; `ignores_errors`, that those are left out on which a
    function fails. All of them come `repeats` times, -1 for ever.
    """

    source: Any
    steps: tuple[Any, ...] = ()
    begin: int = 0
    end: int | None = None
    in_order: bool = True
    ignores_errors: bool = False
    repeats: int = 1

    @property
    def batch(self) -> Batched | None:
        """The batches that it makes of its elements; None for none."""
        return next((step for step in self.steps if isinstance(step, Batched)), None)

    @property
    def counts(self) -> bool:
        """Whether records are numbers that Dataset.range gave, and none in an array or a file."""
        kinds = set(self._source_kinds())
        return "RangeDataset" in kinds and kinds <= {"RangeDataset", "TensorDataset"}

    def _source_kinds(self) -> Iterator[str]:
        if isinstance(self.source, Zipped):
            for part in self.source.parts:
                yield from part._source_kinds()
        else:
            yield _kind(self.source)

    @property
    def functions(self) -> list[Any]:
        """The functions among the steps."""
        return [step for step in self.steps if not isinstance(step, Batched | Filtered)]


def recipe_of(dataset: Any, most: int = _MOST) -> DataSetRecipe:
    """How `dataset` was made.

    Raises:
        TfdbgError: it cannot be told, or not be done again; the message is a sentence.

    """
    kind = _kind(dataset)
    if kind in _SOURCES:
        return DataSetRecipe(dataset)
    if kind in READERS:
        dataset = compat.reader_of_files(dataset)
        kind = _kind(dataset)
    inputs = compat.inputs_of(dataset)
    if kind == "ZipDataset":
        return _zipped([recipe_of(one, most // len(inputs)) for one in inputs])
    if len(inputs) != 1 or most < 1:
        raise TfdbgError(_STUCK.format(_words(kind)))
    if kind in _OF_EACH:
        names = recipe_of(inputs[0], most - 1)
        return DataSetRecipe(_opened(dataset, names, kind), in_order=kind == "FlatMapDataset" and names.in_order)
    below = recipe_of(inputs[0], most - 1)
    if kind in _SAME:
        return below
    if kind in _ORDER:
        return _ordered(dataset, kind, below)
    if kind == "FilterDataset":
        keeps = compat.functions_of(dataset)[0].function
        is_plain = below.batch is None and _is_plain(inputs[0].element_spec) and not in_the_way(keeps)
        steps = (*below.steps, Filtered(keeps)) if is_plain else below.steps
        return replace(below, steps=steps, in_order=False)
    if kind in _BATCHES:
        if below.batch is not None:
            raise TfdbgError(_TWICE)
        sizes = {leaf.shape[0] for leaf in plain_leaves(dataset.element_spec)}
        full = tf.get_static_value(compat.batch_size_of(dataset))
        batched = Batched(sizes.pop() if len(sizes) == 1 else None, full=None if full is None else int(full))
        return replace(below, steps=(*below.steps, batched))
    if kind == _PADDED:
        if below.batch is not None:
            raise TfdbgError(_TWICE)
        padding = tuple(np.asarray(value) for value in tf.nest.flatten(compat.padding_of(dataset)))
        return replace(below, steps=(*below.steps, Batched(None, padding)))
    if kind not in _MAPS:
        raise TfdbgError(_STUCK.format(_words(kind)))
    if below.batch is not None and below.batch.padding:
        raise TfdbgError(_STUCK.format("a map behind padded_batch"))
    plain_leaves(inputs[0].element_spec)
    plain_leaves(dataset.element_spec)
    function = compat.functions_of(dataset)[0].function
    why = in_the_way(function)
    if why:
        raise TfdbgError(_MAP.format(why))
    return replace(below, steps=(*below.steps, function))


def _zipped(parts: Sequence[DataSetRecipe]) -> DataSetRecipe:
    begin = parts[0].begin
    if any(part.begin != begin for part in parts):
        raise TfdbgError(_STUCK.format("a zip of data of which different numbers were skipped"))
    steps: tuple[Any, ...] = ()
    if any(part.batch is not None for part in parts):
        batched = _batched_alike(parts)
        # Batches put together row for row hold what batches of records that were put together do.
        parts, steps = [replace(part, steps=part.steps[:-1]) for part in parts], (batched,)
    in_order = all(part.in_order for part in parts)
    return DataSetRecipe(Zipped(tuple(parts)), steps, begin=begin, in_order=in_order)


def _batched_alike(parts: Sequence[DataSetRecipe]) -> Batched:
    """How the elements of all `parts` are put together in the end."""
    last = [part.steps[-1] if part.steps else None for part in parts]
    batches = [step for step in last if isinstance(step, Batched) and not step.padding and step.full is not None]
    if len(batches) < len(parts) or len({step.full for step in batches}) > 1:
        raise TfdbgError(_STUCK.format("a zip of batches that are not all made alike, at its end"))
    sizes = {step.size for step in batches}
    return replace(batches[0], size=sizes.pop() if len(sizes) == 1 else None)


def _ordered(dataset: Any, kind: str, below: DataSetRecipe) -> DataSetRecipe:
    """What becomes of the elements of `below` where some are left out, or come in another order."""
    if kind == "IgnoreErrorsDataset":
        return replace(below, ignores_errors=True, in_order=False)
    if kind == "RepeatDataset":
        times = tf.get_static_value(compat.count_of(dataset))
        again = -1 if times is None or times < 0 or below.repeats < 0 else int(times) * below.repeats
        return replace(below, in_order=False, repeats=again)
    count = tf.get_static_value(compat.count_of(dataset)) if kind in {"SkipDataset", "TakeDataset"} else None
    if count is None or not below.in_order or below.batch is not None:
        return replace(below, in_order=False)
    if kind == "SkipDataset" and count >= 0:
        return replace(below, begin=below.begin + int(count))
    if kind == "TakeDataset" and count >= 0 and not isinstance(below.source, OpenedFiles):
        end = below.begin + int(count)
        return replace(below, end=end if below.end is None else min(end, below.end))
    return replace(below, in_order=False)


def _opened(dataset: Any, names: DataSetRecipe, kind: str) -> OpenedFiles:
    function = compat.functions_of(dataset)[0].function
    leaves = plain_leaves(dataset.element_spec)
    why = in_the_way(function)
    if why == PYTHON and "GeneratorDataset" in set(op_types(function)):
        raise TfdbgError(_GENERATED)
    if why:
        raise TfdbgError(_MAP.format(why))
    skipped = skipped_of_file(function)
    if skipped is None or isinstance(names.source, OpenedFiles | Zipped) or names.batch is not None:
        raise TfdbgError(_STUCK.format(f"{_words(kind)} of more than the records of one file after another"))
    return OpenedFiles(names, function, skipped, tuple(leaves))


def plain_leaves(spec: Any) -> list[Any]:
    """The specifications of the tensors of an element.

    Raises:
        TfdbgError: some are no plain tensors.

    """
    if not _is_plain(spec):
        raise TfdbgError(_SPARSE)
    leaves: list[Any] = tf.nest.flatten(spec)
    return leaves


def _is_plain(spec: Any) -> bool:
    return all(type(leaf) is tf.TensorSpec for leaf in tf.nest.flatten(spec))


def _kind(dataset: Any) -> str:
    """The kind of a data set: `MapDataset`, whichever version of it."""
    return type(dataset).__name__.lstrip("_").removesuffix("V2").removesuffix("V1")


_WORDS = {
    "FlatMapDataset": "flat_map",
    "DirectedInterleaveDataset": "a choice among data sets",
    "VariantDataset": "a step that TensorFlow does not show",
    "RestructuredDataset": "unbatch, or a step like it",
    "_RestructuredDataset": "unbatch, or a step like it",
}


def _words(kind: str) -> str:
    """What a program calls it: `padded_batch` of `PaddedBatchDataset`."""
    if kind in _WORDS:
        return _WORDS[kind]
    name = kind.removesuffix("Dataset").removeprefix("Parallel")
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_") or kind
