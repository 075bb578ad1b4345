"""The records of a data set, run through its functions once more in their order, by iterators of our own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.samples.map_functions import reads_files
from tfdbg_cli.capture.samples.recipe import Batched, DataSetRecipe, Filtered, OpenedFiles, Zipped
from tfdbg_cli.model.values import Array

_PLAIN, _MAPPED = 1_024, 64  # elements compared at once; fewer where functions run for them
_BLOCK = 16 << 20  # bytes


@dataclass(frozen=True)
class Stretch:
    """Records that stand in a row: of `file`, or of data in memory where that is empty.

    `elements` is a data set of the number of each and, before the steps, of its parts in one flat tuple. The first
    one has the number `begin`.
    """

    file: str
    elements: Any
    begin: int


def stretches(recipe: DataSetRecipe) -> Iterator[Stretch]:
    """The records of a recipe, file by file."""
    source = recipe.source
    if not isinstance(source, OpenedFiles):
        records = _flat(source).skip(0 if isinstance(source, Zipped) else recipe.begin)
        records = records if recipe.end is None else records.take(recipe.end - recipe.begin)
        yield Stretch("", _numbered(records, recipe.begin), recipe.begin)
        return
    left = recipe.begin  # to be skipped, over all files
    names = _through(_numbered(_flat(source.names.source)), source.names.steps)
    for _, name in names.as_numpy_iterator():
        file = name.decode(errors="surrogateescape") if isinstance(name, bytes) else ""
        variant = source.open(tf.constant(name))
        opened = tf.data.experimental.from_variant(variant[0] if isinstance(variant, list) else variant, source.spec)
        there = sum(1 for _ in opened.take(left)) if left else 0
        begin = source.skipped + there
        yield Stretch(file, _numbered(opened.skip(there), begin), begin)
        left -= there


def blocks(
    stretch: Stretch, recipe: DataSetRecipe, shapes: Mapping[int, tuple[int, ...]]
) -> Iterator[tuple[Array, dict[int, Array]]]:
    """The records of a stretch after all steps, in blocks: the numbers of some, and their parts.

    Where a block has more rows than there are numbers, these are of other records, unless functions have moved rows.
    Parts that are padded in a batch are so to the `shapes` that they have in the one where records are looked for.
    """
    batch = recipe.batch
    at = len(recipe.steps) if batch is None else recipe.steps.index(batch)
    before, after = recipe.steps[:at], recipe.steps[at + 1 :]
    records = _through(stretch.elements, before)
    records = records.ignore_errors() if recipe.ignores_errors else records
    size = _size(records, batch, before, after)
    if not size:
        for number, *element in records.as_numpy_iterator():
            parts = dict(enumerate(map(_array, element)))
            if batch is not None and batch.padding:
                parts = {part: _padded(parts[part], shapes.get(part), batch.padding[part]) for part in parts}
            yield np.array([number]), {part: value[np.newaxis] for part, value in parts.items()}
        return
    exact = bool(after) and batch is not None and batch.size is not None
    done = 0
    for numbers, *block in _through(records.batch(size, drop_remainder=exact), after).as_numpy_iterator():
        yield numbers, dict(enumerate(map(np.asarray, block)))
        done += size
    if exact:  # what is left makes no batch of its own: records from the beginning fill it up
        left = sum(1 for _ in records.skip(done).take(size))
        filled = records.skip(done).concatenate(records.repeat())
        last = filled.batch(size, drop_remainder=True).take(1 if left else 0)
        for numbers, *block in _through(last, after).as_numpy_iterator():
            whole = {part: np.asarray(value) for part, value in enumerate(block)}
            yield numbers[:left], {part: value[:left] for part, value in whole.items()}
            if left:  # functions may have moved the last records there
                yield numbers[:left], {part: value[left:] for part, value in whole.items()}


def each_alone(stretch: Stretch, recipe: DataSetRecipe, numbers: Array) -> Iterator[tuple[int, dict[int, Array]]]:
    """The records from the first to the last of `numbers`, each as a batch of nothing but itself: its first row.

    Functions that work on batches give there what they make of that record, wherever in a batch it stood, unless they
    mix records.
    """
    batch = recipe.batch
    assert batch is not None
    at = recipe.steps.index(batch)
    first, last = int(numbers.min()), int(numbers.max())
    some = stretch.elements.skip(first - stretch.begin).take(last - first + 1)
    size = batch.size or _MAPPED
    records = _through(some, recipe.steps[:at]).flat_map(_repeated(size))
    batches = _through(records.batch(size, drop_remainder=batch.size is not None), recipe.steps[at + 1 :])
    for said, *block in batches.as_numpy_iterator():
        yield int(said[0]), {part: np.asarray(value)[:1] for part, value in enumerate(block)}


def _repeated(size: int) -> Any:
    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def repeat(*element: Any) -> Any:
        return tf.data.Dataset.from_tensors(element).repeat(size)

    return repeat


def _array(value: Any) -> Array:
    return np.array(value, object) if isinstance(value, bytes) else np.asarray(value)  # NumPy cuts zeros off of texts


def _padded(value: Array, shape: tuple[int, ...] | None, padding: Array) -> Array:
    """`value` filled up to `shape`, as in a padded batch; as it is where it does not fit into one of that shape."""
    if shape is None or len(shape) != value.ndim or any(map(int.__gt__, value.shape, shape)):
        return value
    found = np.full(shape, padding[()], value.dtype)
    found[tuple(map(slice, value.shape))] = value
    return found


def file_of(recipe: DataSetRecipe, number: int) -> str:
    """The file that the record with that number names, if the functions read it; empty where they read none."""
    if isinstance(recipe.source, OpenedFiles) or not any(map(reads_files, functions_in(recipe))):
        return ""
    for element in _raw(recipe).skip(number).take(1).as_numpy_iterator():
        for leaf in element:
            if isinstance(leaf, bytes) and tf.io.gfile.exists(leaf):
                return leaf.decode(errors="surrogateescape")
    return ""


def functions_in(recipe: DataSetRecipe) -> list[Any]:
    """The functions that records go through, those of the parts that are put together included."""
    parts = recipe.source.parts if isinstance(recipe.source, Zipped) else ()
    return [*recipe.functions, *(function for part in parts for function in functions_in(part))]


def _raw(recipe: DataSetRecipe) -> Any:
    """The records of the sources alone, before all functions."""
    source = recipe.source
    return _joined(map(_raw, source.parts)) if isinstance(source, Zipped) else _flattened(source)


def _flat(source: Any) -> Any:
    """A data set of the records of `source` as flat tuples."""
    if not isinstance(source, Zipped):
        return _flattened(source)
    made = [
        _through(_numbered(_flat(part.source).skip(part.begin)), part.steps).map(_unnumbered) for part in source.parts
    ]
    # What comes again beside what does not: an array beside the places of its windows. Epochs of all are left out.
    if any(part.repeats == 1 for part in source.parts):
        made = [one.repeat(part.repeats) for one, part in zip(made, source.parts, strict=True)]
    return _joined(made)


def _joined(parts: Iterable[Any]) -> Any:
    return _flattened(tf.data.Dataset.zip(tuple(parts)))


@tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
def _flat_tuple(*element: Any) -> tuple[Any, ...]:
    return tuple(tf.nest.flatten(element))


@tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
def _unnumbered(number: Any, *parts: Any) -> tuple[Any, ...]:
    return parts


def _flattened(dataset: Any) -> Any:
    return dataset.map(_flat_tuple)


def _numbered(elements: Any, first: int = 0) -> Any:
    return elements.enumerate(first).map(_flat_tuple)


def _through(elements: Any, steps: Iterable[Any]) -> Any:
    """A data set of what the `steps` make of numbered flat tuples; batches are made elsewhere."""
    for step in steps:
        if isinstance(step, Filtered):
            elements = elements.filter(_keeping(step.keeps))
        elif not isinstance(step, Batched):
            elements = elements.map(_calling(step))
    return elements


def _calling(function: Any) -> Any:
    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def call(number: Any, *parts: Any) -> tuple[Any, ...]:
        return (number, *tf.nest.flatten(function(*parts)))

    return call


def _keeping(function: Any) -> Any:
    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def keeps(number: Any, *parts: Any) -> Any:
        return tf.nest.flatten(function(*parts))[0]

    return keeps


def _size(records: Any, batch: Batched | None, before: Sequence[Any], after: Sequence[Any]) -> int:
    """How many elements are to be put together; 0 where they are not of one shape, so that they cannot be."""
    if batch is not None and batch.padding:
        return 0
    if after:
        return batch.size if batch is not None and batch.size is not None else _MAPPED
    leaves = tf.nest.flatten(records.element_spec)
    if not all(leaf.shape.is_fully_defined() for leaf in leaves):
        return 0
    nbytes: int = sum(leaf.shape.num_elements() * leaf.dtype.size for leaf in leaves)
    return max(1, min(_MAPPED if before else _PLAIN, _BLOCK // max(1, nbytes)))
