"""What the replay of a function needs beside its graph and its inputs, packed into a `ReplaySpec`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tfdbg_cli.capture.functions.definition.call_tree import CallPlace
from tfdbg_cli.capture.functions.definition.flat import FlatFunction, is_inlined
from tfdbg_cli.errors import TfdbgError

_DETAILS = "function"


@dataclass(frozen=True)
class FunctionDetails:
    """What the replay of a function needs beside the fields of `ReplaySpec`: its `details["function"]`, in JSON.

    `places` says where calls that were not inlined stood originally, by the names of their nodes. `aliases` has, by
    the position of a handle, the position of an earlier handle of the same variable. `devices` are those of variables
    by position. `drawn` has the op type and the device of each source by name. `named` has, by the names of functions
    that are called, the names by which the program knows some of their nodes.
    """

    places: Mapping[str, CallPlace]
    aliases: Mapping[int, int]
    devices: Mapping[int, str]
    drawn: Mapping[str, tuple[str, str]]
    named: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def operations(self, function: str, nodes: Iterable[str]) -> Collection[str]:
        """The names of the ops that `function`, whose nodes are `nodes`, was made from, as far as they are known."""
        names = self.named.get(function)
        return [names.get(node, node) for node in nodes] if names else ()

    def packed(self) -> dict[str, str]:
        """As `ReplaySpec.details`."""
        places = {name: [place.own_name, *place.paths] for name, place in self.places.items()}
        found: dict[str, Any] = {
            "places": places,
            "aliases": self.aliases,
            "devices": self.devices,
            "drawn": self.drawn,
        }
        if self.named:
            found["named"] = {name: dict(nodes) for name, nodes in self.named.items()}
        return {_DETAILS: json.dumps(found)}

    @staticmethod
    def unpacked(details: Mapping[str, str]) -> FunctionDetails:
        """From `ReplaySpec.details`.

        Raises:
            TfdbgError: they are damaged.

        """
        try:
            found = json.loads(details.get(_DETAILS, "{}"))
            return FunctionDetails(
                {
                    str(name): CallPlace(str(own), tuple(map(str, paths)))
                    for name, (own, *paths) in _of(found, "places")
                },
                {int(at): int(first) for at, first in _of(found, "aliases")},
                {int(at): str(device) for at, device in _of(found, "devices")},
                {str(name): (str(op_type), str(device)) for name, (op_type, device) in _of(found, "drawn")},
                {
                    str(name): {str(node): str(own) for node, own in nodes.items()}
                    for name, nodes in _of(found, "named")
                },
            )
        except (ValueError, TypeError, AttributeError) as error:
            raise TfdbgError("The description of the function is damaged.", hint="Make the bundle anew.") from error

    def moved(self, positions: Sequence[int | None]) -> FunctionDetails:
        """The details of a function that takes only those inputs that stand at `positions` (None: what is fed)."""
        place = {old: new for new, old in enumerate(positions) if old is not None}
        firsts: dict[int, int] = {}
        aliases: dict[int, int] = {}
        for old, new in place.items():
            first = firsts.setdefault(self.aliases.get(old, old), new)
            if first != new:
                aliases[new] = first
        devices = {place[old]: device for old, device in self.devices.items() if old in place}
        return replace(self, aliases=aliases, devices=devices)


def _of(found: Any, name: str) -> Any:
    return found.get(name, {}).items()


def names_in(flat: FlatFunction, called: Collection[str]) -> dict[str, Mapping[str, str]]:
    """By the names of the functions `called`, what the program calls those of their nodes that have other names."""
    bodies = {scope.body.name: scope.body for scope in flat.root.all()}
    return {name: bodies[name].python_names for name in called if name in bodies and bodies[name].python_names}


def places_in(flat: FlatFunction) -> dict[str, CallPlace]:
    """Where each call that is not inlined stands in the function that it was written in, by the name of its node."""
    found = {}
    for node in flat.nodes.values():
        site = node.site
        if site is not None and not is_inlined(site):
            found[node.name] = CallPlace(site.own_name, tuple(scope.path for scope in site.scopes))
    return found
