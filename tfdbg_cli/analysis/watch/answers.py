"""Applying filters to the tensors of a run: each value is tested once, and one at a time is in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tfdbg_cli.analysis.watch.datum import TensorDatum, datum_of
from tfdbg_cli.analysis.watch.filter import Bad, Filter, TensorFilter
from tfdbg_cli.errors import reason_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import finite_in_steps, summary_of
from tfdbg_cli.model.values import LOST, NoValue
from tfdbg_cli.process.interruptions import our_errors

# By index of the tensor: the answer of a filter, or the text of its exception; None for no where the value is lost.
Answers: TypeAlias = dict[int, "bool | str | None"]


@dataclass(frozen=True, slots=True)
class Raised:
    """The exceptions of a filter: on how many tensors it raised, the name of the first, and what it raised there."""

    count: int = 0
    first: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """The indices of tensors that passed a filter, its exceptions, and for how many the value was lost (`unread`)."""

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
    """Apply `tensor_filter` to the tensors of `run` at `indices`, using and filling the cache `known`.

    `earlier` is the run of the same function before it, for filters that compare. A tensor on which the filter raises
    does not pass, and is counted in `raised`. A filter may return anything that has a truth value.
    """
    passed: list[int] = []
    raised = Raised()
    unread = 0
    for _ in ask_in_steps(run, indices, tensor_filter, known, earlier):
        pass
    others = [(index, answer) for index in indices if (answer := known[index]) is not False]  # usually very few
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
    """Fill `known` with the answers of `tensor_filter` for `indices`, in steps that yield the share done."""
    left = indices if not known else [index for index in indices if index not in known]
    if isinstance(tensor_filter, Filter) and tensor_filter.finds and left:  # a finite tensor cannot pass it
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
    except our_errors() as error:  # the filter is the user's: anything may come
        return reason_of(error)


def _told_by_counts(datum: TensorDatum, tensor_filter: TensorFilter) -> bool | None:
    """The answer by recorded counts, for a tensor without a value and a filter that looks for NaN or infinities."""
    finds = tensor_filter.finds if isinstance(tensor_filter, Filter) else Bad.NONE
    summary = summary_of(datum.store, datum.index) if finds else None
    if summary is None or datum.undefined:
        return None
    if finds is Bad.EITHER:
        return summary.any_nonfinite
    names = [*["nan"] * (Bad.NAN in finds), *["neg_inf", "pos_inf"] * (Bad.INFINITE in finds)]
    counts = [summary.told(name) for name in names]
    return True if any(counts) else None if None in counts else False
