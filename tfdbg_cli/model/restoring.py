"""What takes part in restoring: the variables and objects of a program, and the objects that were saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SavedObject:
    """An object that was saved: places of others by its names for them, and the keys of its values."""

    children: Mapping[str, int]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramObject:
    """An object of a program: places of others by its names for them; if it is a variable, the place of that one."""

    children: Mapping[str, int]
    variable: int | None = None


@dataclass(frozen=True, slots=True)
class ProgramVariable:
    """A variable: the program's name for it, its dtype, and its shape, in which None is not known."""

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True, slots=True)
class ProgramVariables:
    """What was found at a `moment`, which is a clause ("before …").

    `roots` has of each checkpoint object by which the program restores, or may do so, all objects that it leads to,
    itself first. `led_to` are the places of the variables to which further ones lead, by which it did not restore.
    """

    moment: str
    variables: Sequence[ProgramVariable] = ()
    roots: Sequence[Sequence[ProgramObject]] = ()
    led_to: Sequence[int] = ()

    def data(self) -> dict[str, Any]:
        """As JSON, from which `from_data` makes it again."""
        return {
            "moment": self.moment,
            "variables": [[one.name, one.dtype, one.shape] for one in self.variables],
            "roots": [[[dict(one.children), one.variable] for one in root] for root in self.roots],
            "led_to": list(self.led_to),
        }


def from_data(data: Mapping[str, Any]) -> ProgramVariables:
    """The ProgramVariables of which `data` is what its method of that name gave."""
    return ProgramVariables(
        data["moment"],
        [
            ProgramVariable(name, dtype, None if shape is None else tuple(shape))
            for name, dtype, shape in data["variables"]
        ],
        [[ProgramObject(children, variable) for children, variable in root] for root in data["roots"]],
        data["led_to"],
    )
