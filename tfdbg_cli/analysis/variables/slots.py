"""Which variables are what an optimizer keeps of another one (its slots), told by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

Kind = TypeVar("Kind")

# What optimizers call what they keep.
_CALLED = frozenset({
    "m", "v", "vhat", "v_hat", "momentum", "velocity", "rms", "mg", "mean_square", "average_gradient", "accumulator",
    "accum_grad", "accum_var", "accumulated_grad", "accumulated_delta_var", "linear", "d", "u",
})  # fmt: skip
_MOST_UNDERSCORES = 4  # in what Keras calls a slot: `velocity_hat`


def slots_of(variables: Mapping[str, Kind]) -> Mapping[str, str]:
    """By the name of a slot the variable that it belongs to. A slot has the same dtype and shape as that one.

    `variables` are the variables by name, each with its dtype and shape. Optimizers name slots in four ways:
    `dense/kernel/Momentum` (tf.compat.v1.train), `Adam/dense/kernel/m`, `Adam/m/dense/kernel` (Keras 2), and
    `adam/dense_kernel_momentum` (Keras 3).
    """
    flat = {name.replace("/", "_"): name for name in variables}
    found: dict[str, str] = {}
    for name, kind in variables.items():
        owners = (one for one in _owners(name, flat) if one != name and one in variables)
        owner = next((one for one in owners if variables[one] == kind), None)
        if owner is not None:
            found[name] = owner
    # What is kept of a slot would be none.
    return {name: owner for name, owner in found.items() if owner not in found}


def _owners(name: str, flat: Mapping[str, str]) -> Iterator[str]:
    """The names that the variable may have of which `name` would be a slot; by `flat` those with / written as _."""
    parts = name.split("/")
    if not parts[-1].startswith("part_"):  # a part of a variable that was split
        for begin in range(len(parts) - 1):
            yield "/".join(parts[begin:-1])
    for begin in range(1, len(parts)):
        if parts[begin - 1] in _CALLED:
            yield "/".join(parts[begin:])
    if len(parts) > 1:
        last = parts[-1]
        for _ in range(_MOST_UNDERSCORES):
            last, _, _ = last.rpartition("_")
            if last in flat:
                yield flat[last]
