"""Whether a replay of a bundle came out as it was: the same tensor went wrong first, or the same op failed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdbg_cli.analysis.graph.making.eager_past import past_in
from tfdbg_cli.analysis.origin.blamed import blamed_in
from tfdbg_cli.analysis.watch.outcome import outcome_of
from tfdbg_cli.formats.bundles.reader import Bundle, FirstBad
from tfdbg_cli.formats.bundles.values import value_digest
from tfdbg_cli.formats.bundles.writer import not_finite
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import any_nonfinite, nonfinite_mask
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array, NoValue


def replay_verdict(bundle: Bundle, run: Run) -> tuple[bool, str]:
    """Whether `run`, a replay of `bundle`, came out as the recorded run did, and a sentence about it."""
    was, now = bundle.run.error, run.error
    if was is not None or now is not None:
        return _same_error(bundle, run)
    recorded = bundle.run
    blamed = blamed_in(recorded)
    first = bundle.first_bad if bundle.judged else _judged_now(bundle, blamed)
    bad = _first_recorded(run, recorded.tensors)
    if first is None:
        return _nothing_wrong(recorded, run, bad)
    expected = _first_shown(first, recorded.tensors, blamed, run.tensors)
    if expected is None:
        return False, f"{first.name} was not finite, and a replay does not show it: nobody can compare."
    same, found = _compared(expected, bad, recorded, run)
    if expected is first:
        return same, found
    in_past = first.name.node in past_in(recorded.graph)
    why = "ran before this call, and is shown as it was recorded" if in_past else "is not shown by a replay"
    return same, f"{first.name}, the first that was not finite, {why}. Of the rest: {found}"


def _bad_at(tensors: TensorStore, row: int) -> FirstBad:
    """The tensor at `row`, which has a value, as what went wrong first."""
    tensor, value = tensors[row], tensors.value(row)
    assert not isinstance(value, NoValue)
    return FirstBad(tensor.name, tensor.execution, tensor.device, tensor.op_type, value_digest(value, ""))


def _judged_now(bundle: Bundle, blamed: Sequence[int]) -> FirstBad | None:
    """What went wrong first in a run that was not judged when it was saved: an intended infinity may stand there."""
    first = bundle.first_bad
    if blamed:
        return _bad_at(bundle.run.tensors, blamed[0])
    if first is None or _value(bundle.run.tensors, str(first.name), first.execution) is not None:
        return None
    return first


def _nothing_wrong(recorded: Run, run: Run, bad: int | None) -> tuple[bool, str]:
    """The verdict on a run in which nothing was wrong; `bad` is what is now."""
    if bad is not None:
        then = "all was fine then" if not_finite(recorded) else "all was finite then"
        return False, f"it does not come out as it was: {_name(run, bad)} is not finite now, and {then}."
    if not_finite(run):
        return True, "nothing is wrong in it, as it was: what is not finite is intended or ignored."
    return True, "every value is finite, as it was."


def _first_shown(
    first: FirstBad, recorded: TensorStore, blamed: Sequence[int], again: TensorStore
) -> FirstBad | None:
    """What was bad first, of what a replay shows: it shows no references to variables, and no fused ops."""
    if _value(again, str(first.name), first.execution) is not None:
        return first
    for row in blamed:
        tensor = recorded[row]
        if _value(again, str(tensor.name), tensor.execution) is not None:
            return _bad_at(recorded, row)
    return None


def _compared(expected: FirstBad, bad: int | None, recorded: Run, run: Run) -> tuple[bool, str]:
    """Whether `expected` went wrong in `run`, and nothing before it; `bad` is what went wrong there first."""
    again = _place(run.tensors, str(expected.name), expected.execution)
    value = _value(run.tensors, str(expected.name), expected.execution)
    if again is None or value is None or not any_nonfinite(value):
        then = f"{expected.name} is finite now, and was the origin"
        now_bad = "; nothing else is wrong" if bad is None else f"; now it is {_name(run, bad)}"
        return False, f"it does not come out as it was: {then}{now_bad}."
    if bad is not None and bad != again and not _was_bad(recorded, run, bad):
        return False, f"it does not come out as it was: {_name(run, bad)} went wrong before {expected.name} now."
    other = _other_outcome(recorded, run)
    if other:
        return False, f"{_name(run, again)} is the origin, as it was, but {other}."
    if value_digest(value, "") == expected.sha256:
        return True, f"{_name(run, again)} is the origin, as it was, bit for bit."
    before = _value(recorded.tensors, str(expected.name), expected.execution)
    if before is not None and not _alike(before, value):
        return False, f"{_name(run, again)} is the origin, as it was, but at other elements."
    return True, f"{_name(run, again)} is the origin, as it was; finite elements differ."


def _other_outcome(recorded: Run, run: Run) -> str:
    """What came out of the run finite and was not, or the other way round; empty where it is as it was."""
    other = []
    for name in sorted(outcome_of(recorded.graph, recorded.call).results):
        was, is_now = _last_value(recorded.tensors, name), _last_value(run.tensors, name)
        if was is not None and is_now is not None and any_nonfinite(is_now) is not any_nonfinite(was):
            change = "not finite now, and was" if any_nonfinite(is_now) else "finite now, and was not"
            other.append(f"{name} is {change}")
    more = f"; of what came out {len(other) - 1} more differ so" if len(other) > 1 else ""
    return f"{other[0]}{more}" if other else ""


def _last_value(tensors: TensorStore, name: TensorName) -> Array | None:
    """What came out under `name`, which may have been computed several times."""
    rows = tensors.named(name.node, name.slot)
    value = tensors.value(rows[-1]) if rows else None
    return None if isinstance(value, NoValue) else value


def _same_error(bundle: Bundle, run: Run) -> tuple[bool, str]:
    was, now = bundle.run.error, run.error
    if was is None:
        assert now is not None
        return False, f"it does not come out as it was: it fails now, with {now.type_name} in {now.node}."
    if now is None:
        return False, f"it does not come out as it was: it failed with {was.type_name} then, and now it does not."
    if (was.type_name, was.node) == (now.type_name, now.node):
        return True, f"it fails as it did: {now.type_name} in {now.node}."
    return False, f"it fails in another way: {was.type_name} in {was.node} then, {now.type_name} in {now.node} now."


def _first_recorded(run: Run, recorded: TensorStore) -> int | None:
    """The first tensor of `run` that is bad; if values were recorded, of those only."""
    for row in blamed_in(run):
        tensor = run.tensors[row]
        if not len(recorded) or _place(recorded, str(tensor.name), tensor.execution) is not None:
            return row
    return None


def _place(tensors: TensorStore, name: str, execution: int) -> int | None:
    node, _, slot = name.rpartition(":")
    return next((index for index in tensors.named(node, int(slot)) if tensors[index].execution == execution), None)


def _value(tensors: TensorStore, name: str, execution: int) -> Array | None:
    index = _place(tensors, name, execution)
    value = None if index is None else tensors.value(index)
    return None if isinstance(value, NoValue) else value


def _was_bad(recorded: Run, run: Run, index: int) -> bool:
    """Whether the tensor at `index` was not finite the first time either: independent ops have no order."""
    tensor = run.tensors[index]
    value = _value(recorded.tensors, str(tensor.name), tensor.execution)
    return value is not None and any_nonfinite(value)


def _alike(first: Array, second: Array) -> bool:
    return first.shape == second.shape and bool(np.array_equal(nonfinite_mask(first), nonfinite_mask(second)))


def _name(run: Run, index: int) -> str:
    tensor = run.tensors[index]
    return f"{tensor.name} ({tensor.op_type})"
