"""On which devices the ops of a run ran, what was copied between devices, and which ops fell back to the CPU."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tfdbg_cli.analysis.graph.nodes.needed import program_graph
from tfdbg_cli.analysis.graph.nodes.neighbours import HIDDEN_OPS, Edge, neighbours_of
from tfdbg_cli.model.graph import LOOP_VARIABLE, Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.ops.kinds import CALLS, INPUTS

# Ops that compute nothing, or only run others: where they stand says nothing about speed.
_NO_WORK = HIDDEN_OPS | CALLS | INPUTS | {"Const", "VarHandleOp", LOOP_VARIABLE, "NoOp"}
_TYPE = re.compile(r"/(?:device:)?(?P<type>[A-Za-z_][A-Za-z_0-9]*):(?:\d+|\*)$")


class Known(StrEnum):
    """How the devices are known."""

    RUNTIME = "runtime"  # the runtime's own graph names them
    VALUES = "values"  # the values of the run lie on them
    REQUESTED = "requested"  # only what the program asked for is known


@dataclass(frozen=True, slots=True)
class DeviceLoad:
    """What ran on one device; an empty `device` stands for ops whose device is not known."""

    device: str
    ops: int
    tensors: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class DeviceCopy:
    """A tensor that an op on another device reads. `nbytes` are over all executions; None when not captured."""

    tensor: TensorName
    source: str
    target: str
    nbytes: int | None


@dataclass(frozen=True, slots=True)
class Fallback:
    """An op on the CPU, although the program `requested` an accelerator, or (empty) most ops ran on one."""

    node: str
    op_type: str
    requested: str
    device: str


@dataclass(frozen=True)
class Placement:
    """Where the ops of a run stand: the busiest device first, the largest copy first."""

    known: Known
    devices: tuple[DeviceLoad, ...]
    copies: tuple[DeviceCopy, ...]
    fallbacks: tuple[Fallback, ...]


def device_type(device: str) -> str:
    """`GPU` of /job:worker/task:1/device:GPU:0 and of /gpu:0; empty where `device` names no type."""
    match = _TYPE.search(device)
    found = match["type"].upper() if match else ""
    return "" if found in {"JOB", "REPLICA", "TASK"} else found


def placement_of(run: Run, device: re.Pattern[str] | None = None) -> Placement:
    """The placement of `run`; with `device` only what touches devices that it finds."""
    devices = _Devices(run)
    admitted = device.search if device is not None else lambda name: True
    loads = [load for load in _loads(run, devices) if admitted(load.device)]
    copies = [copy for copy in _copies(run, devices) if admitted(copy.source) or admitted(copy.target)]
    fallbacks = [item for item in _fallbacks(run, devices) if admitted(item.device) or admitted(item.requested)]
    return Placement(devices.known, tuple(loads), tuple(copies), tuple(fallbacks))


class _Devices:
    """The device of each node of a run."""

    def __init__(self, run: Run) -> None:
        self._store = run.tensors
        self._runtime = run.graph.kind is GraphKind.RUNTIME
        if self._runtime and any(node.device for node in run.graph):
            self.known = Known.RUNTIME
        elif _mostly_placed(run.tensors):
            self.known = Known.VALUES
        else:
            self.known = Known.REQUESTED

    def of(self, node: Node) -> str:
        """The device on which `node` ran; empty where it is not known."""
        if self.known is not Known.VALUES:
            return node.device
        held = self._store.named(node.name)
        return self._store[held[0]].device if held else ""


def _mostly_placed(store: TensorStore) -> bool:
    """Whether most values are on a device: of a session's graph those inside loops and branches alone are."""
    placed = [bool(store[index].device) for name in store.nodes() for index in store.named(name)[:1]]
    return 2 * sum(placed) > len(placed)


def _loads(run: Run, devices: _Devices) -> list[DeviceLoad]:
    ops: Counter[str] = Counter()
    tensors: Counter[str] = Counter()
    nbytes: Counter[str] = Counter()
    for node in run.graph:
        if node.op_type not in HIDDEN_OPS:
            ops[devices.of(node)] += 1
    for name in run.tensors.nodes():
        for index in run.tensors.named(name):
            tensor = run.tensors[index]
            maker = run.graph.find(name, tensor.device) or run.graph.find(name)
            device = tensor.device if devices.known is Known.VALUES or maker is None else devices.of(maker)
            tensors[device] += 1
            nbytes[device] += tensor.nbytes or 0
    found = [
        DeviceLoad(device, ops[device], tensors[device], nbytes[device]) for device in ops.keys() | tensors.keys()
    ]
    return sorted(found, key=lambda load: (not load.device, -load.ops, load.device))


def _copies(run: Run, devices: _Devices) -> list[DeviceCopy]:
    """Each tensor once for each pair of devices, however many ops read it there.

    By values none are told between the CPUs of one task: which of these a value lies on TensorFlow does not say.
    """
    edges = neighbours_of(run.graph)
    found: dict[tuple[TensorName, str, str], DeviceCopy] = {}
    for node in run.graph:
        target = devices.of(node)
        if not target or node.op_type in HIDDEN_OPS or node.op_type in CALLS:
            continue
        for edge in edges.inputs(node):
            source = _source(edge, devices)
            key = (edge.tensor, source, target)
            if devices.known is Known.VALUES and _are_cpus_of_one_task(source, target):
                continue
            if source and source != target and key not in found:
                found[key] = DeviceCopy(edge.tensor, source, target, _nbytes(run.tensors, edge.tensor, source))
    return sorted(found.values(), key=lambda copy: -(copy.nbytes or 0))


def _are_cpus_of_one_task(*devices: str) -> bool:
    tasks = {_TYPE.sub("", device) for device in devices}
    return len(tasks) == 1 and all(device_type(device) == "CPU" for device in devices)


def has_several_cpus(run: Run) -> bool:
    """Whether a CPU other than the first one of its task is named in `run`, by a value or by the program."""
    named = {node.device for node in run.graph} | {run.tensors[row].device for row in range(len(run.tensors))}
    return any(device_type(device) == "CPU" and not device.endswith((":0", ":*")) for device in named)


def _source(edge: Edge, devices: _Devices) -> str:
    return devices.of(edge.node) if edge.node is not None and edge.node.op_type not in CALLS else ""


def _nbytes(store: TensorStore, name: TensorName, device: str) -> int | None:
    held = [store[i] for i in store.named(name.node, name.slot)]
    sizes = [tensor.nbytes for tensor in held if tensor.device in ("", device) and tensor.nbytes is not None]
    return sum(sizes) if sizes else None


def _fallbacks(run: Run, devices: _Devices) -> list[Fallback]:
    if devices.known is Known.REQUESTED:
        return []
    program = program_graph(run)
    working = [(node, devices.of(node)) for node in run.graph if node.op_type not in _NO_WORK]
    accelerated = _mostly_accelerated(device for _, device in working)
    found: list[Fallback] = []
    for node, device in working:
        if device_type(device) != "CPU":
            continue
        requested = _requested(program, node)
        wanted = device_type(requested)
        if wanted not in ("", "CPU") or (not wanted and accelerated):
            found.append(Fallback(node.name, node.op_type, requested, device))
    return found


def _requested(program: Graph | None, node: Node) -> str:
    asked = program.find(node.name) if program is not None else None
    return asked.device if asked is not None else ""


def _mostly_accelerated(devices: Iterable[str]) -> bool:
    """Whether more ops ran on accelerators than on CPUs."""
    types = Counter(device_type(device) == "CPU" for device in devices if device_type(device))
    return types[False] > types[True]
