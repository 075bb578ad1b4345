"""A client of gRPC in the place of TensorFlow, which sends events to a debug server."""

from __future__ import annotations

import queue
from typing import Any

import pytest

from tfdbg_cli.remote.address import Address

grpc = pytest.importorskip("grpc")


class Sender:
    """One stream of events to a service."""

    def __init__(self, address: Address) -> None:
        self.channel = grpc.insecure_channel(str(address))
        self.given: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        method = self.channel.stream_stream("/tensorflow.EventListener/SendEvents")
        self.replies: Any = method(iter(self.given.get, None))

    def send(self, *messages: bytes, end: bool = True) -> None:
        for message in messages:
            self.given.put(message)
        if end:
            self.given.put(None)
