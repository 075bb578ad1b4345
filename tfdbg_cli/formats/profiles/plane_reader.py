"""What the readers of hosts and of accelerators have in common."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.formats.profiles.event_names import IsOp
from tfdbg_cli.formats.profiles.facts import ProfileFacts
from tfdbg_cli.formats.profiles.planes import ProfilePlane


@dataclass
class PlaneReader:
    """Reads the ops of one `plane` of the serialized XSpace `data`, and notes in `found` what else the plane tells.

    `is_op` says of the text behind the colon of an event's name whether it is the type of an op. Without `all_ops`
    only nodes of graphs are wanted: no ops that ran eagerly, and none that XLA compiled.
    """

    data: bytes
    plane: ProfilePlane
    found: ProfileFacts
    is_op: IsOp
    all_ops: bool
