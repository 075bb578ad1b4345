"""Two courses of one program compared: how many of how many numbers differ, where first, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactness.courses import Course, Recorded

_MOST_NAMED = 4


@dataclass(frozen=True)
class Difference:
    """What one course gave otherwise than the other. `first_step` is the first step whose results differ."""

    results: int
    of_results: int
    variables: int
    of_variables: int
    first_step: int | None
    named: tuple[str, ...]
    error: str = ""

    def __bool__(self) -> bool:
        return bool(self.results or self.variables or self.error)

    @property
    def sentence(self) -> str:
        """How many of how many numbers differ, for a message."""
        counted = self.results + self.variables
        text = f"{counted} of {self.of_results + self.of_variables} recorded numbers differ"
        text += f" ({self.results} of {self.of_results} results"
        text += "" if self.first_step is None else f" from step {self.first_step} on"
        text += f", {self.variables} of {self.of_variables} variables)"
        named = ", ".join(self.named[:_MOST_NAMED]) + " …" * (len(self.named) > _MOST_NAMED)
        return " ".join(filter(None, [text + (f": {named}" if named else ""), self.error]))


def difference(plain: Course, other: Course) -> Difference:
    """Everything in which `other` is not `plain`, NaN and the signs of zeros included."""
    error = "" if plain.error == other.error else f"ended by {other.error}, undebugged by {plain.error}"
    if len(plain.steps) != len(other.steps):
        error += f" after {len(other.steps)} steps, undebugged {len(plain.steps)}"
    differing: list[str] = []
    first = None
    results = 0
    for at, (one, two) in enumerate(zip(plain.steps, other.steps, strict=False)):
        apart = _parted(one, two)
        results += len(apart)
        differing += [f"{name} of step {at}{how}" for name, how in apart]
        if apart and first is None:
            first = at
    state = _parted(plain.state, other.state)
    named = [*differing[:2], *(name + how for name, how in state), *differing[2:]]
    of_results = sum(len(step) for step in plain.steps)
    return Difference(results, of_results, len(state), len(plain.state), first, tuple(named), error)


def _parted(one: Recorded, two: Recorded) -> Sequence[tuple[str, str]]:
    # A variable's name may count what was made before it in the process; its place does not.
    if len(one) != len(two):
        return [("everything", f" ({len(two)} numbers instead of {len(one)})")]
    pairs = zip(one, one.values(), two.values(), strict=True)
    return [(name, _how(a, b)) for name, a, b in pairs if not same(a, b)]


def same(one: Any, two: Any) -> bool:
    """Whether two arrays have one dtype, one shape and the same bits."""
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if one.dtype.hasobject:
        return one.tolist() == two.tolist()
    return one.tobytes() == two.tobytes()


def _how(one: Any, two: Any) -> str:
    if one.dtype != two.dtype or one.shape != two.shape:
        return f" ({two.dtype}{list(two.shape)} instead of {one.dtype}{list(one.shape)})"
    if one.dtype.kind in "OUS":
        return ""
    with np.errstate(all="ignore"):
        a, b = (array.astype(np.complex128 if array.dtype.kind == "c" else np.float64) for array in (one, two))
        apart = np.abs(a - b)
    finite = apart[np.isfinite(apart)]
    if one.size == 1:
        return f" ({b.item()!r} instead of {a.item()!r})"
    unequal = int((np.isnan(a) != np.isnan(b)).sum())
    if unequal:
        return f" ({unequal} elements NaN in one only)"
    return f" (by up to {finite.max(initial=0.0):.2g})"
