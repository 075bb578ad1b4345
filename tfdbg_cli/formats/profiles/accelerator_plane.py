"""What ran on an accelerator: a kernel tells by a statistic which op it works for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tfdbg_cli.formats.graph_files.mended import ByteSpan, Damages
from tfdbg_cli.formats.profiles.event_names import is_name_of_xla, node_and_op
from tfdbg_cli.formats.profiles.facts import XLA
from tfdbg_cli.formats.profiles.plane_reader import PlaneReader
from tfdbg_cli.formats.profiles.planes import event_at, events_of, head_of, text_of
from tfdbg_cli.model.profile import NodeTime

_OP_OF_KERNEL, _OF_XLA = "tf_op", "hlo_op"  # statistics
_STREAM = "Stream #"
# Lines that a viewer made of others: the same once more.
_DERIVED = frozenset(
    {
        "Steps", "XLA Modules", "TensorFlow Ops", "TensorFlow Name Scope", "Framework Ops", "Framework Name Scope",
        "Source code", "Launch Stats", "XLA TraceMe", "Async XLA Ops",
    }
)  # fmt: skip


@dataclass
class AcceleratorPlane(PlaneReader):
    """Reads the kernels of one accelerator."""

    _shared: dict[int, tuple[str, str] | None] = field(default_factory=dict, init=False)

    def times(self, damages: Damages) -> Iterator[NodeTime]:
        """The kernels, line by line."""
        heads = [(line, head_of(self.data, line)) for line in self.plane.lines]
        streams = any(text_of(head.name).startswith(_STREAM) for _, head in heads)
        for line, head in heads:
            name = text_of(head.name)
            if name.startswith(_STREAM) if streams else name not in _DERIVED:
                yield from self._line(line, head.timestamp_ns / 1000, damages)

    def _line(self, line: ByteSpan, begin: float, damages: Damages) -> Iterator[NodeTime]:
        for number, start, end in events_of(self.data, line, damages):
            self.found.events += 1
            if self.found.left_out:  # as many as are listed were read
                self.found.left_out += 1
                continue
            event = event_at(self.data, start, end)
            if event is None:
                damages.add("an event", start, "the bytes are none")
                continue
            if event.num_occurrences:  # a sum over many
                continue
            named = self._named(event.stats) or self._shared_name(number)
            if named is None:
                self.found.unnamed[self.plane.name] += 1
                continue
            spent = event.duration_ps / 1e6
            yield NodeTime(*named, self.plane.name, begin + event.offset_ps / 1e6, spent, spent)

    def _shared_name(self, number: int) -> tuple[str, str] | None:
        """What all events called `number` work for: of a TPU it stands with their name."""
        if number not in self.plane.event_stats:
            return None
        if number not in self._shared:
            self._shared[number] = self._named(self.plane.event_stats[number])
        return self._shared[number]

    def _named(self, stats: Iterable[Any]) -> tuple[str, str] | None:
        """The node and the op type of what works for an op, or of an instruction of XLA."""
        named = node_and_op(self.plane.statistic(stats, _OP_OF_KERNEL), self.is_op)
        if named is not None or not self.all_ops:
            return named
        name = self.plane.statistic(stats, _OF_XLA)
        return (name, XLA) if name and is_name_of_xla(name) else None
