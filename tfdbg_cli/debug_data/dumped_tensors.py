"""The dumped tensors of a run, in order of time over all devices, and by what was watched."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfdbg_cli.debug_data.datum import DebugTensorDatum, watch_key
from tfdbg_cli.debug_data.partition_graph import plain_name
from tfdbg_cli.errors import TfdbgError

Predicate = Callable[[DebugTensorDatum, Any], Any]


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """Nothing was dumped of this output by this debug op."""


class DumpedTensors:
    """`data` in order of time."""

    def __init__(self, data: Sequence[DebugTensorDatum], devices: Sequence[str]) -> None:
        self.data = list(data)
        self._by_key: dict[str, dict[str, list[DebugTensorDatum]]] = {device: {} for device in devices}
        self._by_node: dict[str, list[DebugTensorDatum]] = {}
        for datum in self.data:
            self._by_node.setdefault(datum.node_name, []).append(datum)
            self._by_key[datum.device_name].setdefault(datum.watch_key, []).append(datum)

    @property
    def start(self) -> int | None:
        """The time of the first dump; None without any."""
        return min((datum.timestamp for datum in self.data), default=None)

    def with_key(self, key: str, device_name: str | None) -> list[DebugTensorDatum]:
        """The dumps of a watch key, in order of time; none when it is not known.

        Raises:
            ValueError: there is no such device, or several have dumps of it and none is named.

        """
        key = plain_name(key)
        if device_name is not None:
            if device_name not in self._by_key:
                raise ValueError(f"There is no device named '{device_name}' consisting of debug watch keys.")
            return list(self._by_key[device_name].get(key, ()))
        devices = [device for device, keys in self._by_key.items() if key in keys]
        if len(devices) > 1:
            raise ValueError(
                f"The debug watch key '{key}' exists on multiple ({len(devices)}) devices, but device name is not "
                f"specified; they are {', '.join(devices)}."
            )
        return list(self._by_key[devices[0]][key]) if devices else []

    def of_output(self, node: str, slot: int, debug_op: str, device_name: str | None) -> list[DebugTensorDatum]:
        """The dumps of an output of a node, in order of time, at least one.

        Raises:
            WatchKeyDoesNotExistInDebugDumpDirError: there is none.
            ValueError: several devices have dumps of it and none is named.

        """
        key = watch_key(node, slot, debug_op)
        found = [] if device_name is not None and device_name not in self._by_key else self.with_key(key, device_name)
        if not found:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump of device {device_name}'
                if device_name
                else f'Watch key "{key}" does not exist in the debug dump'
            )
        return found

    def keys_of(self, node_name: str, device_name: str | None) -> list[str]:
        """The watch keys of a node, by output and then as they came."""
        found = {
            datum.watch_key: datum.output_slot
            for datum in self._by_node.get(plain_name(node_name), ())
            if device_name in (None, datum.device_name)
        }
        return sorted(found, key=lambda key: found[key])

    def find(
        self, predicate: Predicate, first_n: int, device_name: str | None, exclude_node_names: str | None
    ) -> list[DebugTensorDatum]:
        """The dumps for which `predicate(datum, value)` holds, in order of time; the first `first_n` if not 0.

        Raises:
            ValueError: there is no such device.

        """
        if device_name is not None and device_name not in self._by_key:
            raise ValueError(f"There is no device named '{device_name}'.")
        excluded = re.compile(exclude_node_names) if exclude_node_names else None
        unread: list[str] = []
        found: list[DebugTensorDatum] = []
        for datum, value in self._values(device_name, excluded, unread):
            if predicate(datum, value):
                found.append(datum)
                if len(found) == first_n:
                    break
        if unread:
            warnings.warn(
                f"{len(unread)} dump file(s) could not be read and were not looked at. The first: {unread[0]}",
                RuntimeWarning,
                stacklevel=3,
            )
        return found

    def _values(
        self, device_name: str | None, excluded: re.Pattern[str] | None, unread: list[str]
    ) -> Iterator[tuple[DebugTensorDatum, Any]]:
        for datum in self.data:
            if device_name not in (None, datum.device_name) or (excluded and excluded.match(datum.node_name)):
                continue
            try:
                value = datum.get_tensor()
            except (TfdbgError, OSError) as error:
                unread.append(str(error))
                continue
            yield datum, value
