"""One number of a layer, run after run: how large its gradient, its weights or their update were."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Quantity(StrEnum):
    """What is measured of a layer: its L2 norm over all variables together."""

    GRADIENT = "gradient"  # with respect to its variables, before the optimizer works on it
    WEIGHT = "weight"  # as the forward pass read it
    UPDATE = "update"  # by how much the run changed the weights


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity of the layer `name`: the numbers of the runs in the program, and the norm in each."""

    name: str
    quantity: Quantity
    steps: tuple[int, ...]
    values: tuple[float, ...]
