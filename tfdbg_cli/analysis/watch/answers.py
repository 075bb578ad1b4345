"""What filters say of the tensors of a run: each is asked once, one value at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tfdbg_cli.analysis.watch.datum import TensorDatum, datum_of
from tfdbg_cli.analysis.watch.filter import Bad, Filter, TensorFilter
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import finite_in_steps, summary_of
from tfdbg_cli.model.values import LOST, NoValue

# By index: what a filter said, or the text of what it raised; None where the value is lost and it said no.
Answers: TypeAlias = dict[int, "bool | str | None"]


@dataclass(frozen=True, slots=True)
class Raised:
    """A filter that raised: on how many tensors, the first of them, and what it raised there first."""

    count: int = 0
    first: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """The indices that passed a filter, in order, how often it raised, and how many values it never saw."""

    passed: tuple[int, ...]
    raised: Raised = Raised()
    unread: int = 0


def ask(
    run: Run,
    indices: Sequence[int],
    tensor_filter: TensorFilter,
    known: Answers,
    earlier: Run | None = None,
) -> Answered:
    """Put `tensor_filter` to the tensors of `run` at `indices`, one value at a time; `known` is looked up and filled.

    `earlier` is the run of the same function before it. A filter that raises passes nothing by it; that it did is
    counted. The answer may be any object with a truth.
    """
    passed: list[int] = []
    raised = Raised()
    unread = 0
    for _ in ask_in_steps(run, indices, tensor_filter, known, earlier):
        pass
    others = [(index, answer) for index in indices if (answer := known[index]) is not False]  # nearly none
    for index, answer in others:
        if isinstance(answer, str):
            raised = Raised(raised.count + 1, raised.first or str(run.tensors[index].name), raised.error or answer)
        elif answer:
            passed.append(index)
        elif answer is None:
            unread += 1
    return Answered(tuple(passed), raised, unread)


def ask_in_steps(
    run: Run, indices: Sequence[int], tensor_filter: TensorFilter, known: Answers, earlier: Run | None = None
) -> Iterator[float]:
    """Fill `known` with what `tensor_filter` says of the tensors at `indices`; gives the share that was asked."""
    left = indices if not known else [index for index in indices if index not in known]
    if isinstance(tensor_filter, Filter) and tensor_filter.finds and left:  # of what is finite it says no
        before = len(known)
        for finite, share in finite_in_steps(run.tensors, left):
            known.update(dict.fromkeys(finite, False))
            yield share
        left = [index for index in left if index not in known] if len(known) - before < len(left) else ()
    for number, index in enumerate(left, len(indices) - len(left)):
        known[index] = _answer(datum_of(run, index, earlier), tensor_filter)
        yield number / len(indices)


def _answer(datum: TensorDatum, tensor_filter: TensorFilter) -> bool | str | None:
    value = datum.get_tensor()
    lost = isinstance(value, NoValue) and value.lack in LOST
    if isinstance(value, NoValue):
        told = _told_by_counts(datum, tensor_filter)
        if told is not None:
            return told
    try:
        return bool(tensor_filter(datum, value)) or (None if lost else False)
    except Exception as error:  # noqa: BLE001  # the filter is the user's: anything may come
        return f"{type(error).__name__}: {error}"


def _told_by_counts(datum: TensorDatum, tensor_filter: TensorFilter) -> bool | None:
    """What recorded counts say of a tensor without a value, to a filter that looks for NaN or infinities."""
    finds = tensor_filter.finds if isinstance(tensor_filter, Filter) else Bad.NONE
    summary = summary_of(datum.store, datum.index) if finds else None
    if summary is None or datum.undefined:
        return None
    if finds is Bad.EITHER:
        return summary.any_nonfinite
    names = [*["nan"] * (Bad.NAN in finds), *["neg_inf", "pos_inf"] * (Bad.INFINITE in finds)]
    counts = [summary.told(name) for name in names]
    return True if any(counts) else None if None in counts else False
