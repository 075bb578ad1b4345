"""How large the tensors on a chain are, and at which step they grew most: an overflow begins before it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfdbg_cli.analysis.graph.ways.chain import Link
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.dtypes import element_type_named, is_inexact
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary, nonfinite_mask
from tfdbg_cli.model.tensors import summary_of
from tfdbg_cli.ops.kinds import QUOTIENTS, RECIPROCALS

_STEEP = 10.0  # a step that makes values so many times as large is worth a word
_POLES = RECIPROCALS | {"Log", "Log1p", "Rsqrt", "Atanh", "Digamma"}  # infinite, and nowhere of a large number
_WHERE_ZERO_SPOILS = {**dict.fromkeys(QUOTIENTS, 1), "Pow": 0, "SqrtGrad": 0}  # the input whose 0 gives an infinity


def overflows(origin: Origin) -> bool:
    """Whether infinities were made of finite numbers: how large these were then tells where they come from."""
    inputs = [item.value for item in origin.inputs]
    finite = all(value is None or not nonfinite_mask(value).any() for value in inputs)
    return finite and bool((nonfinite_mask(origin.value) & ~nan_mask(origin.value)).any())


def comes_of_size(origin: Origin) -> bool:
    """Whether infinities may come of how large the inputs are, and not of a small one, as the logarithm of 0 does."""
    if origin.op_type in _POLES:
        return False
    place = _WHERE_ZERO_SPOILS.get(origin.op_type)
    value = None if place is None or place >= len(origin.inputs) else origin.inputs[place].value
    return value is None or not (np.broadcast_to(value, origin.bad.shape)[origin.bad] == 0).any()


def with_sizes(run: Run, chain: Sequence[Link]) -> tuple[Link, ...]:
    """`chain` with the largest magnitude of each of its tensors but the last one, which overflowed."""
    return (*(replace(link, largest=largest_in(run, link.tensor)) for link in chain[:-1]), *chain[-1:])


def steepest(chain: Sequence[Link]) -> tuple[int, float] | None:
    """The place in `chain` where values grew most, and how many times they did; None where they hardly grew."""
    found: tuple[int, float] | None = None
    for at in range(1, len(chain)):
        before, after = chain[at - 1].largest, chain[at].largest
        if before and after and after / before >= max(_STEEP, found[1] if found else 0):
            found = at, after / before
    return found


def largest_in(run: Run, name: TensorName) -> float | None:
    """The largest magnitude of a finite element of a tensor of floats, as it was last; None where none is known."""
    row = next(iter(run.tensors.named(name.node, name.slot)[-1:]), None)
    element = None if row is None else element_type_named(run.tensors[row].dtype)
    if row is None or element is None or element.numpy is None or not is_inexact(element.numpy):
        return None
    summary = summary_of(run.tensors, row)
    return None if summary is None else _magnitude(summary)


def _magnitude(summary: Summary) -> float | None:
    ends = [abs(end) for end in (summary.min, summary.max) if end is not None]
    return max(ends, default=None) if not {"min", "max"} & summary.unknown else None
