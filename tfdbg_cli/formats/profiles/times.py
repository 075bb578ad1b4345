"""The times of ops in a profile (XSpace, tsl/profiler/protobuf/xplane.proto)."""

from __future__ import annotations

import sys
from dataclasses import replace

from tfdbg_cli.formats.graph_files.mended import Damages
from tfdbg_cli.formats.profiles.accelerator_plane import AcceleratorPlane
from tfdbg_cli.formats.profiles.event_names import IsOp, is_op_type
from tfdbg_cli.formats.profiles.facts import ProfileFacts
from tfdbg_cli.formats.profiles.host_plane import HostPlane
from tfdbg_cli.formats.profiles.planes import plane_of, space_of
from tfdbg_cli.model.profile import NodeTime

MOST_TIMES = 500_000  # of one profile; each takes some 200 bytes


def executor_times(data: bytes, is_op: IsOp) -> tuple[NodeTime, ...]:
    """The ops that executors and accelerators ran, in order of start, as the runtime calls the nodes."""
    return _read(data, Damages("the profile"), is_op, all_ops=False, most=sys.maxsize).times


def profile_facts(data: bytes, damages: Damages) -> ProfileFacts:
    """All that the profile tells of ops: of executors and accelerators, of eager code, and of what XLA compiled.

    An op that ran eagerly has no node: it is called as its type.
    """
    return _read(data, damages, is_op_type, all_ops=True, most=MOST_TIMES)


def _read(data: bytes, damages: Damages, is_op: IsOp, *, all_ops: bool, most: int) -> ProfileFacts:
    space = space_of(data, damages)
    found = ProfileFacts(hosts=space.hosts, said=space.said)
    times: list[NodeTime] = []
    for part in space.planes:
        within = Damages("") if part.cut else damages  # that it is cut off is told
        plane = plane_of(data, part, within)
        if plane is None:
            continue
        found.nameless |= part.cut and not plane.events
        reader = AcceleratorPlane if plane.is_accelerator else HostPlane
        for time in reader(data, plane, found, is_op, all_ops=all_ops).times(within):
            if len(times) < most:
                times.append(time)
            else:
                found.left_out += 1
    times.sort(key=lambda time: time.start_us)
    first = times[0].start_us if times else 0.0
    found.times = tuple(replace(time, start_us=time.start_us - first) for time in times)
    return found
