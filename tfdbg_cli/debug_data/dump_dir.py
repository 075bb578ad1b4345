"""The dump of one run, for scripts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tfdbg_cli.debug_data.datum import DebugTensorDatum
from tfdbg_cli.debug_data.dumped_tensors import DumpedTensors, Predicate
from tfdbg_cli.debug_data.loading import Loaded
from tfdbg_cli.debug_data.partition_graph import plain_name
from tfdbg_cli.debug_data.partition_graphs import PartitionGraphs
from tfdbg_cli.debug_data.reading import device_graphs, listed_dump
from tfdbg_cli.debug_data.run_metadata import one_or_all
from tfdbg_cli.debug_data.tracing import some_path, transitive_inputs
from tfdbg_cli.debug_data.validation import validate_dump
from tfdbg_cli.formats.dumps.case_reader import SavedCase, read_case
from tfdbg_cli.formats.dumps.core_metadata import CoreMetadata, messages_in, metadata_in
from tfdbg_cli.formats.dumps.store import in_order
from tfdbg_cli.formats.messages.graph_nodes import tensor_name
from tfdbg_cli.model.values import NoValue


class DebugDumpDir:
    """The dump of one run: its tensors, the graphs that ran, and what was called.

    It reads what TensorFlow's debugger writes and what tfdbg writes. Tensors of all devices stand in order of time.
    Names of nodes are those of the runtime graphs, where repeated slashes count as one. `device_name` may be left out
    where only one device comes into question. What is damaged or missing is told in `notes`.
    """

    def __init__(
        self, dump_root: str | os.PathLike[str], partition_graphs: Any = None, validate: bool = True
    ) -> None:
        """Read names and graphs of the dump in `dump_root`; values are read when they are asked for.

        Args:
            dump_root: the directory of one run.
            partition_graphs: GraphDefs, such as those of RunMetadata, for devices whose graphs were not written.
            validate: raise if tensors and graphs contradict one another.

        Raises:
            FileNotFoundError: there is no such directory.
            ValueError: a dumped node is in no graph, or a tensor was dumped before its inputs.

        """
        self._root = os.fspath(dump_root)
        listing = listed_dump(self._root)
        notes = list(listing.notes)
        self._core_metadata = list(metadata_in(listing.core_metadata, notes))
        self._fetches = list(messages_in(listing.fetches, notes))
        self._feed_keys = list(messages_in(listing.feed_keys, notes))
        self._devices = listing.devices
        self._graphs = PartitionGraphs(device_graphs(listing, partition_graphs, notes), len(listing.devices))
        others = () if self._case is None else self._case.tensors.others
        files = in_order([*listing.tensors, *others], self._graphs.graph)
        self._tensors = DumpedTensors([DebugTensorDatum.of_file(file, self._lacks) for file in files], self._devices)
        self._python_graph: Any = None
        self.notes: Sequence[str] = tuple(notes)
        # A run that tfdbg wrote from memory may have an order, but no times that could contradict the graph.
        if validate and (self._case is None or self._case.timed):
            validate_dump(files, self._graphs)

    @cached_property
    def _case(self) -> SavedCase | None:
        return read_case(Path(self._root), [])

    @cached_property
    def _lacks_by_path(self) -> Mapping[str, NoValue]:
        lacks = self._case.lacks if self._case is not None else {}
        return {os.path.join(self._root, *path.split("/")): lack for path, lack in lacks.items()}  # noqa: PTH118

    def _lacks(self) -> Mapping[str, NoValue]:
        return self._lacks_by_path

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        """Every dumped tensor, in order of time."""
        return list(self._tensors.data)

    @property
    def size(self) -> int:
        """How many tensors were dumped."""
        return len(self._tensors.data)

    @property
    def t0(self) -> int | None:
        """When the first tensor was dumped, in microseconds from the epoch; None when none was."""
        return self._tensors.start

    @property
    def core_metadata(self) -> CoreMetadata | list[CoreMetadata] | None:
        """What the runtime wrote about the call; a list if several runs wrote here, None if none did."""
        return one_or_all(self._core_metadata)

    @property
    def run_fetches_info(self) -> str | list[str] | None:
        """`repr` of what the call fetched; a list if there are several, None if it was not written."""
        return one_or_all(self._fetches)

    @property
    def run_feed_keys_info(self) -> str | list[str] | None:
        """`repr` of the keys of the feed_dict; a list if there are several, None if it was not written."""
        return one_or_all(self._feed_keys)

    def devices(self) -> list[str]:
        """The names of the devices that the run used."""
        return list(self._devices)

    def find(
        self,
        predicate: Predicate,
        first_n: int = 0,
        device_name: str | None = None,
        exclude_node_names: str | None = None,
    ) -> list[DebugTensorDatum]:
        """The dumps for which `predicate(datum, value)` is true, in order of time over all devices.

        A file that cannot be read is left out, with a RuntimeWarning.

        Args:
            predicate: asked of each dump; the value is an array or an InconvertibleTensorProto.
            first_n: end after so many; 0 for all.
            device_name: only dumps of this device.
            exclude_node_names: a regex, matched from the start; such nodes are not looked at.

        Raises:
            ValueError: there is no such device.

        """
        return self._tensors.find(predicate, first_n, device_name, exclude_node_names)

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        """What was dumped of a node: `node:slot:DebugOp` for each output and debug op."""
        return self._tensors.keys_of(node_name, device_name)

    def watch_key_to_data(self, debug_watch_key: str, device_name: str | None = None) -> list[DebugTensorDatum]:
        """The dumps of a watch key, in order of time; none when it is not known.

        Raises:
            ValueError: there is no such device, or several have dumps of it and none is named.

        """
        return self._tensors.with_key(debug_watch_key, device_name)

    def get_tensors(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[Loaded]:
        """The values of an output of a node, in order of time: arrays, or InconvertibleTensorProtos.

        Raises:
            WatchKeyDoesNotExistInDebugDumpDirError: nothing was dumped of it. It is a ValueError.
            ValueError: several devices have dumps of it and none is named.
            TfdbgError: a file is damaged.

        """
        return [datum.get_tensor() for datum in self._output(node_name, output_slot, debug_op, device_name)]

    def get_tensor_file_paths(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[str]:
        """The dump files of an output of a node, in order of time; raises as `get_tensors`."""
        return [datum.file_path for datum in self._output(node_name, output_slot, debug_op, device_name)]

    def get_rel_timestamps(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int]:
        """When an output of a node was dumped, in microseconds from `t0`; raises as `get_tensors`."""
        start = self.t0 or 0
        return [datum.timestamp - start for datum in self._output(node_name, output_slot, debug_op, device_name)]

    def get_dump_sizes_bytes(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int | None]:
        """Bytes of the dump files of an output of a node, in order of time; raises as `get_tensors`."""
        return [datum.dump_size_bytes for datum in self._output(node_name, output_slot, debug_op, device_name)]

    def _output(self, node: str, slot: int, debug_op: str, device_name: str | None) -> list[DebugTensorDatum]:
        return self._tensors.of_output(node, slot, debug_op, device_name)

    def loaded_partition_graphs(self) -> bool:
        """Whether the graph of a device is known."""
        return bool(self._graphs)

    def _loaded(self) -> PartitionGraphs:
        if not self._graphs:
            raise LookupError("No partition graphs have been loaded.")
        return self._graphs

    def partition_graphs(self) -> list[Any]:
        """The GraphDef of each device as it ran, with the nodes of TensorFlow's debugger.

        They are messages of TensorFlow's class where the process has loaded it, else of one with the same fields.

        Raises:
            LookupError: no graph is known. So it is of every method that asks for nodes.

        """
        return [part.debug_graph_def for part in self._loaded().by_device.values()]

    def reconstructed_non_debug_partition_graphs(self) -> dict[str, Any]:
        """By device its GraphDef without the nodes of the debugger; see `reconstruct_non_debug_graph_def`."""
        return {device: part.non_debug_graph_def for device, part in self._graphs.by_device.items()}

    def nodes(self, device_name: str | None = None) -> list[str]:
        """The names of the nodes of all devices, or of one.

        Raises:
            ValueError: there is no such device.

        """
        graphs = self._loaded()
        parts = graphs.by_device.values() if device_name is None else [graphs.on_device(device_name)]
        return [name for part in parts for name in part.op_types]

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        """Whether a device, or the one named, has a node called so.

        Raises:
            ValueError: there is no such device.

        """
        graphs = self._loaded()
        if device_name is not None:
            graphs.on_device(device_name)
        devices = graphs.devices_of(node_name)
        return bool(devices) if device_name is None else device_name in devices

    def node_device(self, node_name: str) -> str | list[str]:
        """The device of a node; a list where several have one of this name.

        Raises:
            ValueError: there is no such node.

        """
        graphs, name = self._loaded(), plain_name(node_name)
        devices = [graphs.by_device[device].devices[name] for device in graphs.devices_of(name)]
        if not devices:
            raise ValueError(f"Node '{node_name}' does not exist in partition graphs.")
        return devices[0] if len(devices) == 1 else devices

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        """The type of a node's op.

        Raises:
            ValueError: there is no such node or device, or several devices have one and none is named. So it is of
                the methods below.

        """
        return self._loaded().with_node(node_name, device_name).op_types[plain_name(node_name)]

    def node_attributes(self, node_name: str, device_name: str | None = None) -> Mapping[str, Any]:
        """The attributes of a node, as AttrValue messages by name."""
        return self._loaded().with_node(node_name, device_name).attributes[plain_name(node_name)]

    def node_inputs(self, node_name: str, is_control: bool = False, device_name: str | None = None) -> list[str]:
        """What a node reads, as `node` or `node:1` for a further output, or what it waits for."""
        part = self._loaded().with_node(node_name, device_name)
        return list((part.control_inputs if is_control else part.inputs)[plain_name(node_name)])

    def node_recipients(self, node_name: str, is_control: bool = False, device_name: str | None = None) -> list[str]:
        """The nodes that read a node, as often as they do, or that wait for it."""
        part = self._loaded().with_node(node_name, device_name)
        return list((part.control_recipients if is_control else part.recipients)[plain_name(node_name)])

    def transitive_inputs(
        self,
        node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str]:
        """What a node reads, what that reads, and so on, each node once, on its device.

        Args:
            node_name: the node.
            include_control: follow what nodes wait for.
            include_reversed_ref: follow from a variable or queue to the ops that are given it by reference, which
                may write it.
            device_name: the device.

        """
        part = self._loaded().with_node(node_name, device_name)
        return transitive_inputs(part, plain_name(node_name), include_control, include_reversed_ref)

    def find_some_path(
        self,
        src_node_name: str,
        dst_node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str] | None:
        """The names of nodes on a shortest way from one node or tensor to another, both included; None without any.

        It crosses devices where a tensor is sent and received; with `device_name` both ends are on that device.
        The arguments are those of `transitive_inputs`.
        """
        graphs = self._loaded()
        ends = []
        for name in (src_node_name, dst_node_name):
            node = tensor_name(plain_name(name)).node
            ends.append((graphs.with_node(node, device_name).device_name, node))
        return some_path(graphs, ends[0], ends[1], include_control, include_reversed_ref)

    @property
    def python_graph(self) -> Any:
        """The tf.Graph that was set, or None."""
        return self._python_graph

    def set_python_graph(self, python_graph: Any) -> None:
        """Take the tracebacks of nodes from `python_graph`, the tf.Graph that was run."""
        self._python_graph = python_graph
        vars(self).pop("_tracebacks", None)

    @cached_property
    def _tracebacks(self) -> Mapping[str, tuple[tuple[Any, ...], ...]] | None:
        if self._python_graph is not None:
            operations = self._python_graph.get_operations()
            return {op.name: tuple(map(tuple, op.traceback)) for op in operations}
        if self._case is None or not self._case.tracebacks:
            return None
        return {
            name: tuple((frame.file, frame.line, frame.function, frame.text) for frame in stack)
            for name, stack in self._case.tracebacks.items()
        }

    def node_traceback(self, element_name: str) -> tuple[tuple[Any, ...], ...]:
        """Where a node or tensor was made: (file, line, function, text) of each call, outermost first.

        tfdbg writes tracebacks into its dumps; those of TensorFlow's need `set_python_graph`.

        Raises:
            LookupError: neither the dump nor a graph tells.
            KeyError: there is no such node.

        """
        tracebacks = self._tracebacks
        if tracebacks is None:
            raise LookupError("Python graph is not available for traceback lookup")
        name = tensor_name(element_name).node
        if name not in tracebacks:
            raise KeyError(f'Cannot find node "{name}" in Python graph')
        return tracebacks[name]
