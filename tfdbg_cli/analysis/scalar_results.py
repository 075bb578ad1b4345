"""The single numbers that a run gave the program, such as its loss, by the names that the program has for them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.model.dtypes import in_double, is_inexact, may_have_fractions
from tfdbg_cli.model.names import TensorName, parse_tensor_name
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import recorded_summary
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES

_LAST_DIGITS = 1_000  # units in the last place of a float32: less than a list shows of it
_INEXACT_FROM = 2**53  # a double does not hold every integer beyond it


@dataclass(frozen=True, slots=True)
class ScalarResult:
    """A number that came out of a run: the tensor, what the program calls it, and its value, an int if it is one.

    What a session fetched outside of a dict is called as its node, which the program named. A lone result of a
    function has no name.
    """

    tensor: TensorName
    name: str
    value: float | int


def scalar_results(run: Run) -> Sequence[ScalarResult]:
    """The results of `run` that hold one real number which is known, those called a loss before the others."""
    return sorted(_found(run), key=lambda result: "loss" not in result.name.lower())


def _found(run: Run) -> Iterator[ScalarResult]:
    call, others = run.call, _not_the_programs(run)
    given: list[tuple[TensorName, str, int]] = []
    for text, called in zip(call.results, call.names_of_fetches, strict=False):
        tensor = parse_tensor_name(text)
        rows = [] if tensor is None or text in others else run.tensors.named(tensor.node, tensor.slot)
        if tensor is not None and rows:
            name = text.rpartition(":")[0] if not (called or call.function) else called
            given.append((tensor, name, rows[-1]))
    parts = Counter(name for _, name, _ in given)
    for tensor, name, row in given:
        if name and parts[name] > 1:  # one of several tensors, as of a sparse one, which is no number itself
            continue
        value = _number(run, row)
        if value is not None:
            yield ScalarResult(tensor, name, value)


def _not_the_programs(run: Run) -> frozenset[str]:
    """The outputs that came to the program otherwise, by more than last digits, than they are shown."""
    differs = () if run.exactness is None else run.exactness.differs
    return frozenset(one.name for one in differs if not 0 < (one.max_ulp or 0) <= _LAST_DIGITS)


def _number(run: Run, row: int) -> float | int | None:
    """The number in the tensor at `row`; None where it holds more or less than one, or it is not known."""
    tensor = run.tensors[row]
    if tensor.op_type in REFERENCE_VARIABLES:  # fetched, it shows what it holds in the end, and here at its first use
        return None
    if tensor.shape is None or math.prod(tensor.shape) != 1 or tensor.dtype == "bool":
        return None
    value = run.tensors.value(row)
    if isinstance(value, NoValue):
        number = _summed_up(recorded_summary(run.tensors, row))
        if number is None or may_have_fractions(tensor.dtype) or abs(number) >= _INEXACT_FROM:
            return number
        return int(number)
    real = value.dtype.kind in "iuf" or (value.dtype.kind != "c" and is_inexact(value.dtype))
    if value.size != 1 or not real:
        return None
    return int(value.item()) if value.dtype.kind in "iu" else float(in_double(value).item())


def _summed_up(summary: Summary | None) -> float | None:
    """The number of which only statistics were recorded."""
    if summary is None or summary.size != 1 or summary.unknown or summary.of_magnitude:
        return None
    if summary.nonfinite:
        return math.nan if summary.nan else math.inf if summary.pos_inf else -math.inf
    return summary.min
