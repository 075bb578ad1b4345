"""The graphs of all devices of a run, by which its nodes are found."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tfdbg_cli.debug_data.partition_graph import PartitionGraph, plain_name
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.ops.kinds import RECEIVES, SENDS

DeviceNode = tuple[str, str]  # a device, and the name of a node there


class PartitionGraphs:
    """The PartitionGraph of each device that has one. `devices` counts those without, too."""

    def __init__(self, by_device: Mapping[str, PartitionGraph], devices: int) -> None:
        self.by_device = dict(by_device)
        self._devices = devices

    def __bool__(self) -> bool:
        return bool(self.by_device)

    @cached_property
    def graph(self) -> Graph:
        """All nodes, each on its device."""
        return Graph(node for part in self.by_device.values() for node in part.nodes())

    @cached_property
    def _places(self) -> Mapping[str, list[str]]:
        places: dict[str, list[str]] = {}
        for device, part in self.by_device.items():
            for name in part.op_types:
                places.setdefault(name, []).append(device)
        return places

    def devices_of(self, node_name: str) -> list[str]:
        """The devices that have a node called so."""
        return self._places.get(plain_name(node_name), [])

    def on_device(self, device_name: str) -> PartitionGraph:
        """The graph of one device.

        Raises:
            ValueError: there is no such device, or its graph is not known.

        """
        if device_name not in self.by_device:
            raise ValueError(f"Invalid device name: {device_name}")
        return self.by_device[device_name]

    def with_node(self, node_name: str, device_name: str | None) -> PartitionGraph:
        """The graph that has the node.

        Raises:
            ValueError: none of them has it, the one of `device_name` has not, or several have and none is named.

        """
        found = self.devices_of(node_name)
        if device_name is not None:
            part = self.on_device(device_name)
            if device_name not in found:
                raise ValueError(f"The device {device_name} has no node named '{node_name}'.")
            return part
        if not found:
            raise ValueError(f"None of the {self._devices} device(s) has a node named '{node_name}'.")
        if len(found) > 1:
            raise ValueError(
                f"There are multiple ({len(found)}) devices with nodes named '{node_name}' but device_name is not "
                f"specified; they are {', '.join(found)}."
            )
        return self.by_device[found[0]]

    def sender(self, place: DeviceNode) -> DeviceNode | None:
        """Where the tensor is sent that the node at `place` receives; None when it receives none."""
        device, name = place
        part = self.by_device[device]
        if part.op_types.get(name) not in RECEIVES:
            return None
        return self._senders.get(part.rendezvous[name])

    @cached_property
    def _senders(self) -> Mapping[tuple[bytes, ...], DeviceNode]:
        return {
            part.rendezvous[name]: (device, name)
            for device, part in self.by_device.items()
            for name in part.rendezvous
            if part.op_types[name] in SENDS
        }
