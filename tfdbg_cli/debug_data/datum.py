"""One dumped tensor: what its file is called tells all but the value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from tfdbg_cli.debug_data.loading import Loaded, inconvertible, load_tensor_from_event_file
from tfdbg_cli.formats.dumps.device_names import device_of, directory_of
from tfdbg_cli.formats.dumps.listing import DumpFile, parse_dump_name
from tfdbg_cli.model.values import NoValue


def device_name_to_device_path(device_name: str) -> str:
    """The name of the directory in which the dumps of `device_name` lie."""
    return directory_of(device_name)


def device_path_to_device_name(device_dir: str) -> str:
    """The device whose dumps lie in the directory `device_dir`, a name or a path."""
    return device_of(os.path.basename(device_dir))  # noqa: PTH119


class DebugTensorDatum:
    """A dumped tensor: node, output, debug op, device and time. The value is read when it is asked for."""

    def __init__(self, dump_root: str, debug_dump_rel_path: str) -> None:
        """Describe the dump file `debug_dump_rel_path`, a path from `dump_root`: device, scopes of the node, name.

        Raises:
            ValueError: dump files are not called so.

        """
        device, *rest = os.path.normpath(debug_dump_rel_path).split(os.sep)  # noqa: PTH206 - an empty one has a part
        *scopes, name = rest or [device]
        parts = parse_dump_name(name)
        if parts is None:
            raise ValueError(f"Dump file path does not conform to the naming pattern: {name}")
        path = os.path.join(dump_root, debug_dump_rel_path)  # noqa: PTH118
        node = "/".join([*scopes, parts.base])
        place = device_path_to_device_name(device)
        self._file = DumpFile(parts.time_us, parts.repeat, node, parts.slot, parts.debug_op, place, path)
        self._lacks: Callable[[], Mapping[str, NoValue]] = dict

    @classmethod
    def of_file(cls, file: DumpFile, lacks: Callable[[], Mapping[str, NoValue]]) -> DebugTensorDatum:
        """The datum of a file that was listed; `lacks` tells by path why there is no array where a file does not."""
        datum = cls.__new__(cls)
        datum._file = file
        datum._lacks = lacks
        return datum

    def __repr__(self) -> str:
        return f"{{DebugTensorDatum ({self.device_name}) {self.tensor_name} @ {self.debug_op} @ {self.timestamp}}}"

    def get_tensor(self) -> Loaded:
        """The value, read from the file: an array, or an InconvertibleTensorProto.

        Raises:
            OSError: the file cannot be read.
            TfdbgError: the file is damaged.

        """
        lack = self._lacks().get(self.file_path)
        return load_tensor_from_event_file(self.file_path) if lack is None else inconvertible(lack)

    @property
    def timestamp(self) -> int:
        """When the value was dumped, in microseconds from the epoch."""
        return self._file.time_us

    @property
    def extended_timestamp(self) -> str:
        """The timestamp, with `-1`, `-2` and so on behind it for further dumps of that microsecond."""
        return f"{self._file.time_us}-{self._file.repeat}" if self._file.repeat else str(self._file.time_us)

    @property
    def debug_op(self) -> str:
        """The debug op, such as `DebugIdentity`, whose output is the value."""
        return self._file.debug_op

    @property
    def device_name(self) -> str:
        """The device, such as `/job:localhost/replica:0/task:0/device:CPU:0`."""
        return self._file.device

    @property
    def node_name(self) -> str:
        """The node whose output was watched."""
        return self._file.node

    @property
    def output_slot(self) -> int:
        """The number of that output, from 0."""
        return self._file.slot

    @property
    def tensor_name(self) -> str:
        """`node:slot`."""
        return f"{self.node_name}:{self.output_slot}"

    @property
    def watch_key(self) -> str:
        """`node:slot:DebugOp`."""
        return watch_key(self.node_name, self.output_slot, self.debug_op)

    @property
    def file_path(self) -> str:
        """The dump file."""
        return self._file.path

    @property
    def dump_size_bytes(self) -> int | None:
        """Bytes of the dump file, which holds more than the values; None when it is not there."""
        return self._file.file_bytes

    @property
    def order(self) -> tuple[int, int]:
        """By which dumps are sorted in time: the microsecond, and which of its dumps."""
        return self._file.time_us, self._file.repeat


def watch_key(node_name: str, output_slot: int, debug_op: str) -> str:
    """The key of a debug op on an output of a node: `node:slot:DebugOp`."""
    return f"{node_name}:{output_slot}:{debug_op}"
