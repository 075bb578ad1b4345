"""Dumps for scripts, by the names of `tensorflow.python.debug.lib.debug_data`, and without TensorFlow."""

from tfdbg_cli.analysis.watch.filters import has_inf_or_nan
from tfdbg_cli.debug_data.datum import DebugTensorDatum, device_name_to_device_path, device_path_to_device_name
from tfdbg_cli.debug_data.dump_dir import DebugDumpDir
from tfdbg_cli.debug_data.dumped_tensors import WatchKeyDoesNotExistInDebugDumpDirError
from tfdbg_cli.debug_data.gradient_values import gradient_values_from_dump
from tfdbg_cli.debug_data.loading import (
    InconvertibleTensorProto,
    load_tensor_from_event,
    load_tensor_from_event_file,
)
from tfdbg_cli.debug_data.partition_graph import reconstruct_non_debug_graph_def
from tfdbg_cli.debug_data.run_metadata import extract_core_metadata_from_event_proto

__all__ = [
    "DebugDumpDir",
    "DebugTensorDatum",
    "InconvertibleTensorProto",
    "WatchKeyDoesNotExistInDebugDumpDirError",
    "device_name_to_device_path",
    "device_path_to_device_name",
    "extract_core_metadata_from_event_proto",
    "gradient_values_from_dump",
    "has_inf_or_nan",
    "load_tensor_from_event",
    "load_tensor_from_event_file",
    "reconstruct_non_debug_graph_def",
]
