"""The first tensor of a run that is not finite, found by a look at each."""

from __future__ import annotations

from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.model.tensors import Tensor, TensorStore
from tfdbg_cli.model.values import NoValue


def first_bad(tensors: TensorStore) -> Tensor | None:
    """The first tensor that holds a NaN or an infinity; None when there is none."""
    for row in range(len(tensors)):
        value = tensors.value(row)
        if not isinstance(value, NoValue) and any_nonfinite(value):
            return tensors[row]
    return None
