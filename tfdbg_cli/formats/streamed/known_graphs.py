"""Graphs that came: TensorFlow sends one with the first run that executes it, and with no later one."""

from __future__ import annotations

import threading
from collections.abc import Sequence, Set
from dataclasses import dataclass

from tfdbg_cli.formats.messages.graph_def import GraphPartition, SavedGraph, graph_of
from tfdbg_cli.model.graph import GraphKind

_MOST = 64
_MOST_BYTES = 1 << 29

Signature = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class SentGraph:
    """The graph of one executor, of all its `devices`. `peer` sent it, with a call of `signature`."""

    graph: SavedGraph
    devices: frozenset[str]
    peer: str
    signature: Signature
    nbytes: int

    @property
    def host(self) -> str:
        """Where the peer is, without the port, which differs from stream to stream."""
        return host_of(self.peer)


def host_of(peer: str) -> str:
    """The host in gRPC's name of a peer: `ipv4:127.0.0.1` of `ipv4:127.0.0.1:50123`."""
    return peer.rpartition(":")[0] if peer.startswith("ip") else peer


class KnownGraphs:
    """The graphs of late, of all jobs. Used by several threads."""

    def __init__(self) -> None:
        self._sent: list[SentGraph] = []
        self._lock = threading.Lock()

    def add(self, parts: Sequence[GraphPartition], peer: str, signature: Signature) -> SentGraph:
        """Keep the graph of `parts`, which came with a run of `signature`."""
        graph = graph_of(parts, GraphKind.RUNTIME)
        nbytes = sum(len(part.serialized) for part in parts)
        sent = SentGraph(graph, frozenset(part.device for part in parts), peer, signature, nbytes)
        with self._lock:
            self._sent.append(sent)
            while len(self._sent) > _MOST or sum(one.nbytes for one in self._sent) > _MOST_BYTES:
                del self._sent[0]
                if len(self._sent) <= 1:
                    break
        return sent

    def find(self, peer: str, signature: Signature | None, nodes: Set[tuple[str, str]]) -> Sequence[SentGraph]:
        """The graphs that a run may be of which sent none, the likeliest first.

        `signature` is None where that of the run is not known; `nodes` are device and name of those with a tensor.
        """
        with self._lock:
            sent = list(reversed(self._sent))
        fit = [
            one
            for one in sent
            if one.host == host_of(peer)
            and (signature is None or one.signature == signature)
            and all(device in one.devices and name in one.graph for device, name in nodes)
        ]
        return sorted(fit, key=lambda one: one.peer != peer)  # who has the same port is the same process
