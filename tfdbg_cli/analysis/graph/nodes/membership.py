"""Which replica of a `tf.distribute` strategy a node of a graph belongs to, and which belong to all of them.

A strategy that mirrors a step traces it once for each replica, all into one graph: the first replica as the program
would by itself, each other one within a scope `replica_1/`, `replica_2/`. What is done once for all of them (the sum
of their gradients) stands outside, as do the updates of each one's variables, in scopes `update_0/`, `update_1/`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import needs_first
from tfdbg_cli.ops.kinds import CALLS

_SCOPE = re.compile(r"(?:(?<=/)|^)replica_([1-9]\d*)(?:/|$)")
_NUMBERED = re.compile(r"replica_[1-9]\d*")
_UPDATE = re.compile(r"((?:/|^)update_)(\d+)(?=(?:_\d+)?/)")


@dataclass(frozen=True)
class Membership:
    """Which replica each node belongs to, counted from 0, by its name; a node that is not named belongs to all.

    `counterparts` are the names that nodes of other replicas than the first would have in that one.
    """

    replica: Mapping[str, int]
    counterparts: Mapping[str, str]

    @property
    def replicas(self) -> Sequence[int]:
        """The numbers of all replicas; empty where there is one alone."""
        others = {number for number in self.replica.values() if number}
        return sorted({0, *others}) if others else ()

    def is_part_of(self, name: str, replica: int) -> bool:
        """Whether the node belongs to that replica, or to all."""
        return self.replica.get(name, replica) == replica


def membership_of(run: Run) -> Membership:
    """Who is of which replica in `run`, the nodes included that no graph holds."""
    nodes = {node.name: node for node in run.graph}
    nodes |= {name: Node(name, "", "") for name in run.tensors.nodes() if name not in nodes}
    counterparts = {name: _without_replica(name) for name in nodes if _named(name)}
    if not counterparts:
        return Membership({}, {})
    first = set(counterparts.values())
    replica: dict[str, int] = {}
    for name in nodes:
        number = _named(name)
        if number is not None or name in first:
            replica[name] = number or 0
    replica |= _by_device(nodes, replica)
    _follow(run.graph, nodes, replica)
    return Membership(replica, counterparts)


def is_replica_scope(scope: Sequence[str]) -> bool:
    """Whether the parts of `scope` are those of a replica alone, without a layer in it."""
    return len(scope) == 1 and _NUMBERED.fullmatch(scope[0]) is not None


def _named(name: str) -> int | None:
    """The replica that a name tells of; None where it tells of none."""
    scope = _SCOPE.search(name)
    update = None if scope else _UPDATE.search(name)
    return int(scope[1]) if scope else int(update[2]) if update else None


def _without_replica(name: str) -> str:
    """What a node is called in the first replica."""
    return _UPDATE.sub(r"\g<1>0", _SCOPE.sub("", name)).removesuffix("/")


def _by_device(nodes: Mapping[str, Node], replica: Mapping[str, int]) -> Mapping[str, int]:
    """The nodes of which no name tells, on a device on which one replica alone computes, if it is not the first.

    On the device of the first one stands what is done for all, too.
    """
    at: dict[str, set[int]] = {}
    for name, number in replica.items():
        at.setdefault(nodes[name].device, set()).add(number)
    alone = {device: min(those) for device, those in at.items() if device and len(those) == 1 and 0 not in those}
    return {name: alone[node.device] for name, node in nodes.items() if name not in replica and node.device in alone}


def _follow(graph: Graph, nodes: Mapping[str, Node], replica: dict[str, int]) -> None:
    """Put into `replica` the other nodes: what is computed of one replica alone, or for one alone.

    What is computed of several, or of what was, is for all; so is what several read. What an op gives that calls
    functions may be of another replica for each of its outputs: a conditional around the batches of all. So it tells
    of none, and belongs to all.
    """

    def calls(name: str) -> bool:
        return nodes[name].op_type in CALLS

    def needs(name: str) -> list[str]:
        read = [tensor.node for tensor in nodes[name].inputs if tensor.node in nodes]
        return [] if calls(name) else [one for one in read if not calls(one)]

    order = list(needs_first(nodes, needs))
    for_all: set[str] = set()
    for name in order:
        if name in replica:
            continue
        of = {replica.get(one) for one in needs(name) if one in replica or one in for_all}
        if len(of) == 1 and (number := next(iter(of))) is not None:
            replica[name] = number
        elif of:
            for_all.add(name)
    for name in reversed(order):
        if name in replica or any(one in replica for one in needs(name)):
            continue
        readers = {replica.get(reader.name) for reader, _ in graph.consumers(name) if not calls(reader.name)}
        if len(readers) == 1 and (number := readers.pop()) is not None:
            replica[name] = number
