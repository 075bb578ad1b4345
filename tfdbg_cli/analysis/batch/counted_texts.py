"""Counts of the parts of texts (`tf.strings.split(x).row_lengths()`): the texts of which they are."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import known_array
from tfdbg_cli.ops.kinds import RESHAPES, SAME_VALUE, TEXT_SPLITS

_HANDS_ON = RESHAPES | SAME_VALUE.keys() | {"Cast", "StridedSlice"}
_MOST_STEPS = 20


def counted_texts(run: Run, lineage: Lineage, index: int) -> InputSeen | None:
    """The texts for each of which the tensor at `index`, made by an op that counts numbers, counts the parts.

    None where the numbers that it counts are not those of the texts from which the parts come.
    """
    counted = next(iter(lineage.inputs(index)), None)
    split = _split_behind(lineage, counted)
    if counted is None or counted.value is None or split is None:
        return None
    indices = known_array(run.tensors.value(split))
    texts = lineage.places(split)[0]
    one_each = texts.shape is not None and len(texts.shape) == 1 and run.tensors[index].shape == texts.shape
    if not one_each or indices is None or indices.ndim != 2:
        return None
    return texts if np.array_equal(indices[:, 0], counted.value.reshape(-1)) else None


def _split_behind(lineage: Lineage, numbers: InputSeen | None) -> int | None:
    """The row of the indices that an op which splits texts gave, of which `numbers` may be a column."""
    for _ in range(_MOST_STEPS):
        if numbers is None or numbers.index is None:
            return None
        maker = lineage.node(numbers.index)
        if maker is None or maker.op_type not in _HANDS_ON:
            return None if maker is None or maker.op_type not in TEXT_SPLITS or numbers.name.slot else numbers.index
        numbers = next(iter(lineage.places(numbers.index)), None)
    return None
