"""What a run gave when it was made again, and whether it was the same as the first time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.exactness import same_bits
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import EMPTY_STORE, Tensor, TensorStore
from tfdbg_cli.model.units import names_text
from tfdbg_cli.model.values import Lack, NoValue

_NOT_AGAIN = "The run could not be made again, so its values are missing: {}"
_MOST_NAMED = 3


@dataclass(frozen=True)
class Replayed:
    """What a replay gave: its tensors, or those until `error`. `notes` are for the screen.

    `lacks` says why there are no values at all; empty when there are.
    """

    tensors: TensorStore = EMPTY_STORE
    notes: tuple[str, ...] = ()
    error: RunError | None = None
    lacks: str = ""

    def of(self, run: Run) -> Run:
        """`run` with these tensors in place of its own; its call, graph and tracebacks stay."""
        return replace(run, tensors=self.tensors, error=self.error, notes=(*run.notes, *self.notes), lacks=self.lacks)


def not_again(failure: Exception) -> Replayed:
    """Nothing, since making the run again failed; the note says so."""
    return without_values(_NOT_AGAIN.format(failure))


def without_values(reason: str) -> Replayed:
    """Nothing, for that reason, which the screen says."""
    return Replayed(notes=(reason,), lacks=reason)


def difference(first: TensorStore, again: TensorStore) -> str:
    """A sentence that names the tensors of which `again` has other bits than `first`; empty if there are none."""
    places = {_key(again[row]): row for row in range(len(again))}
    other: list[str] = []
    for row in range(len(first)):
        place = places.get(_key(first[row]))
        if place is not None and not same_bits(first.value(row), again.value(place)):
            other.append(str(first[row].name))
    return _sentence(other)


def uncompared(first: TensorStore) -> str:
    """A sentence that says how many values of `first` are damaged, and passed over by `difference`; or empty."""
    lost = [
        (first[row].name, value.text)
        for row in range(len(first))
        if isinstance(value := first.value(row), NoValue) and value.lack is Lack.DAMAGED
    ]
    if not lost:
        return ""
    (name, why), many = lost[0], len(lost) > 1
    values = f"{len(lost):,} recorded values are" if many else "1 recorded value is"
    whether = f"whether {'they come' if many else 'it comes'} out the same is not known"
    return f"{values} damaged, and {whether}: {'first ' if many else ''}{name}. {why}"


def _key(tensor: Tensor) -> tuple[str, int, int]:
    return tensor.node, tensor.slot, tensor.execution


def _sentence(names: list[str]) -> str:
    if not names:
        return ""
    values = "1 value is" if len(names) == 1 else f"{len(names):,} values are"
    return f"Made again, {values} not the same to the last bit: {names_text(names, _MOST_NAMED)}."
