"""Our declarations against TensorFlow's own: the same fields, numbers and types on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tfdbg_cli.formats.messages import schema

# Fields that we carry along as bytes although TensorFlow declares a message: the same on the wire.
OPAQUE = {
    ("TensorProto", "resource_handle_val"), ("TensorProto", "variant_val"), ("GraphDef", "library"),
    ("SavedModel", "meta_graphs"), ("MetaGraphDef", "graph_def"), ("MetaGraphDef", "object_graph_def"),
    ("RunMetadata", "step_stats"), ("RunMetadata", "partition_graphs"),
    ("FunctionGraphs", "partition_graphs"), ("FunctionGraphs", "pre_optimization_graph"),
    ("FunctionGraphs", "post_optimization_graph"),
}  # fmt: skip
# Texts of profiles, of which one that is no UTF-8 would spoil all around it.
TEXTS_AS_BYTES = {
    ("XSpace", "errors"), ("XSpace", "warnings"), ("XSpace", "hostnames"), ("XPlane", "name"), ("XLine", "name"),
    ("XEventMetadata", "name"), ("XStatMetadata", "name"), ("XStat", "str_value"),
}  # fmt: skip
TENSORFLOW_NAMES = {
    "SummaryValue": "Summary.Value",
    "PluginData": "SummaryMetadata.PluginData",
    "Dim": "TensorShapeProto.Dim",
    "ListValue": "AttrValue.ListValue",
    "FileLineCol": "GraphDebugInfo.FileLineCol",
    "EventHead": "DebugEvent",
    "OpHead": "GraphOpCreation",
    "SourceHead": "SourceFile",
    "ExecutionHead": "Execution",
    "TraceHead": "GraphExecutionTrace",
    "ArgDef": "OpDef.ArgDef",
    "BytesList": "CollectionDef.BytesList",
    "XEventEntry": "profiler.XPlane.EventMetadataEntry",
    "XStatEntry": "profiler.XPlane.StatMetadataEntry",
    **{f"X{name}": f"profiler.X{name}" for name in ("Space", "Plane", "Line", "Event", "Stat")},
    **{f"X{name}": f"profiler.X{name}" for name in ("EventMetadata", "StatMetadata")},
    "MetaInfoDef": "MetaGraphDef.MetaInfoDef",
    "FunctionGraphs": "RunMetadata.FunctionGraphs",
    "Extent": "TensorSliceProto.Extent",
    "TrackableObject": "TrackableObjectGraph.TrackableObject",
    "ObjectReference": "TrackableObjectGraph.TrackableObject.ObjectReference",
    "SerializedTensor": "TrackableObjectGraph.TrackableObject.SerializedTensor",
    "SlotVariableReference": "TrackableObjectGraph.TrackableObject.SlotVariableReference",
    "StateChange": "EventReply.DebugOpStateChange",
    "OpLogProto": "tfprof.OpLogProto",
    "OpLogEntry": "tfprof.OpLogEntry",
    "CodeDef": "tfprof.CodeDef",
    "CodeTrace": "tfprof.CodeDef.Trace",
    "IdEntry": "tfprof.OpLogProto.IdToStringEntry",
}


def test_the_messages_live_under_our_own_name() -> None:
    for name in schema.MESSAGES:
        assert schema.CLASSES[name].DESCRIPTOR.full_name == f"tfdbg_cli.formats.{name}"


def test_unknown_fields_survive_a_round_trip() -> None:
    """A graph written by a newer TensorFlow is passed on whole."""
    serialized = schema.NodeDef(name="a", op="Const").SerializeToString() + bytes([0x32, 3]) + b"xyz"
    assert schema.NodeDef.FromString(serialized).SerializeToString() == serialized


def test_a_map_of_attributes_is_a_map() -> None:
    node = schema.NodeDef()
    node.attr["T"].type = 1
    again = schema.NodeDef.FromString(node.SerializeToString())
    assert {name: value.WhichOneof("value") for name, value in again.attr.items()} == {"T": "type"}


@pytest.mark.tf
def test_every_field_is_the_one_of_tensorflow() -> None:
    from tensorflow.core.debug import debug_service_pb2
    from tensorflow.core.framework import function_pb2, graph_pb2, summary_pb2, variable_pb2
    from tensorflow.core.protobuf import (
        config_pb2,
        debug_event_pb2,
        debug_pb2,
        saved_model_pb2,
        tensor_bundle_pb2,
        trackable_object_graph_pb2,
    )
    from tensorflow.core.util import event_pb2
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    roots = (
        event_pb2.Event, graph_pb2.GraphDef, summary_pb2.Summary, function_pb2.FunctionDefLibrary,
        debug_event_pb2.DebugEvent, saved_model_pb2.SavedModel, config_pb2.RunMetadata,
        tensor_bundle_pb2.BundleHeaderProto, tensor_bundle_pb2.BundleEntryProto,
        trackable_object_graph_pb2.TrackableObjectGraph, variable_pb2.VariableDef, xplane_pb2.XSpace,
        debug_service_pb2.EventReply, debug_service_pb2.CallTraceback, debug_pb2.DebuggedSourceFiles,
    )  # fmt: skip
    known: dict[str, Any] = {}
    for root in roots:
        _collect(root.DESCRIPTOR, known)
    for name in schema.MESSAGES:
        ours = schema.CLASSES[name].DESCRIPTOR
        theirs = known[f"tensorflow.{TENSORFLOW_NAMES.get(name, name)}"]
        for field in ours.fields:
            _compare(name, field, theirs.fields_by_number[field.number])


def _collect(descriptor: Any, known: dict[str, Any]) -> None:
    if descriptor.full_name in known:
        return
    known[descriptor.full_name] = descriptor
    for field in descriptor.fields:
        if field.message_type is not None:
            _collect(field.message_type, known)


def _compare(message: str, ours: Any, theirs: Any) -> None:
    assert ours.name == theirs.name, f"{message}.{ours.name}"
    assert _is_repeated(ours) == _is_repeated(theirs)
    assert (ours.containing_oneof is None) == (theirs.containing_oneof is None)
    if (message, ours.name) in OPAQUE:
        assert (ours.type, theirs.type) == (ours.TYPE_BYTES, theirs.TYPE_MESSAGE)
    elif (message, ours.name) in TEXTS_AS_BYTES:
        assert (ours.type, theirs.type) == (ours.TYPE_BYTES, theirs.TYPE_STRING)
    elif theirs.type == theirs.TYPE_ENUM:
        assert ours.type == ours.TYPE_INT32
    else:
        assert ours.type == theirs.type
    if ours.message_type is not None and not ours.message_type.GetOptions().map_entry:
        expected = TENSORFLOW_NAMES.get(ours.message_type.name, ours.message_type.name)
        assert theirs.message_type.full_name == f"tensorflow.{expected}"


def _is_repeated(field: Any) -> bool:
    """Whether `field` has many values. Protobuf 4, which TensorFlow 2.16 takes, says it by `label` alone."""
    repeated = field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
    return bool(repeated)
