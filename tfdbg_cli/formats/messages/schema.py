"""The protobuf messages of TensorFlow that tfdbg reads and writes, declared here so that it need not be installed.

Field numbers and types are those of tensorflow/core/util/event.proto and tensorflow/core/framework/{summary, tensor,
tensor_shape, graph, node_def, attr_value, versions}.proto; those of Debugger V2 stand in
tensorflow/core/protobuf/debug_event.proto, those of files of programs in tensorflow/core/protobuf/{saved_model,
meta_graph, saved_object_graph, config, tensor_bundle, trackable_object_graph}.proto, those of profiles in
tsl/profiler/protobuf/xplane.proto, those of debug servers in tensorflow/core/{debug/debug_service, protobuf/debug,
profiler/tfprof_log}.proto. The messages live in a descriptor pool of their own under a package name of our
own, so they cannot clash with the ones that TensorFlow registers in the same process.
What is only carried along (function libraries, resource handles, variants) is declared as bytes: on the wire an
embedded message and a byte string are the same.
"""

from __future__ import annotations

import re
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError as DecodeError

PACKAGE = "tfdbg_cli.formats"

# name:type=number; `*` behind a type is a repeated field, `%` a map from string; `|` in front names the oneof.
MESSAGES = {
    "Event": (
        "wall_time:double=1 step:int64=2 what|file_version:string=3 what|graph_def:bytes=4 what|summary:Summary=5"
        " what|log_message:LogMessage=6"
    ),
    "LogMessage": "level:int32=1 message:string=2",
    "Summary": "value:SummaryValue*=1",
    "SummaryValue": (
        "tag:string=1 node_name:string=7 metadata:SummaryMetadata=9 value|simple_value:float=2"
        " value|tensor:TensorProto=8"
    ),
    "SummaryMetadata": "plugin_data:PluginData=1",
    "PluginData": "plugin_name:string=1 content:bytes=2",
    "TensorShapeProto": "dim:Dim*=2 unknown_rank:bool=3",
    "Dim": "size:int64=1 name:string=2",
    "TensorProto": (
        "dtype:int32=1 tensor_shape:TensorShapeProto=2 version_number:int32=3 tensor_content:bytes=4"
        " float_val:float*=5 double_val:double*=6 int_val:int32*=7 string_val:bytes*=8 scomplex_val:float*=9"
        " int64_val:int64*=10 bool_val:bool*=11 dcomplex_val:double*=12 half_val:int32*=13"
        " resource_handle_val:bytes*=14 variant_val:bytes*=15 uint32_val:uint32*=16 uint64_val:uint64*=17"
        " float8_val:bytes=18"
    ),
    "GraphDef": "node:NodeDef*=1 library:bytes=2 version:int32=3 versions:VersionDef=4",
    "FunctionDefLibrary": "function:FunctionDef*=1 gradient:GradientDef*=2",
    "FunctionDef": "signature:OpDef=1 node_def:NodeDef*=3 ret:string%=4 attr:AttrValue%=5",
    "GradientDef": "function_name:string=1 gradient_func:string=2",
    "OpDef": "name:string=1 input_arg:ArgDef*=2 output_arg:ArgDef*=3",
    "ArgDef": "name:string=1 type:int32=3 type_attr:string=4 number_attr:string=5 type_list_attr:string=6",
    "OpList": "op:OpDef*=1",
    "VersionDef": "producer:int32=1 min_consumer:int32=2 bad_consumers:int32*=3",
    "NodeDef": "name:string=1 op:string=2 input:string*=3 device:string=4 attr:AttrValue%=5",
    "AttrValue": (
        "value|list:ListValue=1 value|s:bytes=2 value|i:int64=3 value|f:float=4 value|b:bool=5 value|type:int32=6"
        " value|shape:TensorShapeProto=7 value|tensor:TensorProto=8 value|placeholder:string=9"
        " value|func:NameAttrList=10"
    ),
    "ListValue": (
        "s:bytes*=2 i:int64*=3 f:float*=4 b:bool*=5 type:int32*=6 shape:TensorShapeProto*=7 tensor:TensorProto*=8"
        " func:NameAttrList*=9"
    ),
    "NameAttrList": "name:string=1 attr:AttrValue%=2",
    "DebugEvent": (
        "wall_time:double=1 what|debug_metadata:DebugMetadata=3 what|source_file:SourceFile=4"
        " what|stack_frame_with_id:StackFrameWithId=6 what|graph_op_creation:GraphOpCreation=7"
        " what|execution:Execution=9 what|graph_execution_trace:GraphExecutionTrace=10"
    ),
    "DebugMetadata": "tensorflow_version:string=1 file_version:string=2 tfdbg_run_id:string=3",
    "SourceFile": "file_path:string=1 host_name:string=2 lines:string*=3",
    "StackFrameWithId": "id:string=1 file_line_col:FileLineCol=2",
    "FileLineCol": "file_index:int32=1 line:int32=2 func:string=4",
    "CodeLocation": "host_name:string=1 stack_frame_ids:string*=2",
    "GraphOpCreation": "op_type:string=1 op_name:string=2 graph_id:string=4 code_location:CodeLocation=8",
    "DebuggedGraph": "graph_id:string=1 graph_name:string=2 outer_context_id:string=6",
    "DebuggedDevice": "device_name:string=1 device_id:int32=2",
    "Execution": (
        "op_type:string=1 num_outputs:int32=2 graph_id:string=3 input_tensor_ids:int64*=4 output_tensor_ids:int64*=5"
        " tensor_debug_mode:int32=6 tensor_protos:TensorProto*=7 code_location:CodeLocation=8"
        " output_tensor_device_ids:int32*=9"
    ),
    "GraphExecutionTrace": (
        "tfdbg_context_id:string=1 op_name:string=2 output_slot:int32=3 tensor_debug_mode:int32=4"
        " tensor_proto:TensorProto=5 device_name:string=6"
    ),
    # What lists need of the messages of a set that are many: the rest is passed over unread.
    "EventHead": (
        "wall_time:double=1 what|source_file:SourceHead=4 what|graph_op_creation:OpHead=7"
        " what|debugged_graph:DebuggedGraph=8 what|execution:ExecutionHead=9 what|graph_execution_trace:TraceHead=10"
        " what|debugged_device:DebuggedDevice=12"
    ),
    "OpHead": "op_type:string=1 op_name:string=2 graph_id:string=4 input_names:string*=6",
    "SourceHead": "file_path:string=1 host_name:string=2",
    "ExecutionHead": (
        "op_type:string=1 num_outputs:int32=2 graph_id:string=3 input_tensor_ids:int64*=4 output_tensor_ids:int64*=5"
        " output_tensor_device_ids:int32*=9"
    ),
    "TraceHead": "tfdbg_context_id:string=1 op_name:string=2 output_slot:int32=3 device_name:string=6",
    # Files of programs. Graphs in them are parsed one by one, and where they lie is wanted when they are damaged.
    "SavedModel": "saved_model_schema_version:int64=1 meta_graphs:bytes*=2",
    "MetaGraphDef": (
        "meta_info_def:MetaInfoDef=1 graph_def:bytes=2 collection_def:CollectionDef%=4 signature_def:SignatureDef%=5"
        " object_graph_def:bytes=7"
    ),
    "MetaInfoDef": "stripped_op_list:OpList=2 tags:string*=4 tensorflow_version:string=5",
    "CollectionDef": "kind|bytes_list:BytesList=2",
    "BytesList": "value:bytes*=1",
    "VariableDef": "variable_name:string=1",
    "SignatureDef": "inputs:TensorInfo%=1 outputs:TensorInfo%=2 method_name:string=3",
    "TensorInfo": "encoding|name:string=1 dtype:int32=2 tensor_shape:TensorShapeProto=3",
    "SavedObjectGraph": "nodes:SavedObject*=1",
    "SavedObject": (
        "children:ObjectReference*=1 kind|function:SavedFunction=6 kind|variable:SavedVariable=7"
        " kind|bare_concrete_function:SavedBareConcreteFunction=8"
    ),
    "ObjectReference": "node_id:int32=1 local_name:string=2",
    "SavedFunction": "concrete_functions:string*=1",
    "SavedBareConcreteFunction": "concrete_function_name:string=1",
    "SavedVariable": "dtype:int32=1 shape:TensorShapeProto=2 trainable:bool=3 name:string=6",
    "RunMetadata": "step_stats:bytes=1 partition_graphs:bytes*=3 function_graphs:FunctionGraphs*=4",
    "FunctionGraphs": ("partition_graphs:bytes*=1 pre_optimization_graph:bytes=2 post_optimization_graph:bytes=3"),
    "StepStats": "dev_stats:DeviceStepStats*=1",
    "DeviceStepStats": "device:string=1 node_stats:NodeExecStats*=2",
    "NodeExecStats": (
        "node_name:string=1 all_start_micros:int64=2 op_start_rel_micros:int64=3 op_end_rel_micros:int64=4"
        " all_end_rel_micros:int64=5 timeline_label:string=8 all_start_nanos:int64=13 op_start_rel_nanos:int64=14"
        " op_end_rel_nanos:int64=15 all_end_rel_nanos:int64=16"
    ),
    # Profiles. Events lie in them by the million: each is parsed by itself, where it is wanted. Texts are bytes: one
    # that is no UTF-8 would spoil all around it. An entry of a map from numbers is a message.
    "XSpace": "planes:XPlane*=1 errors:bytes*=2 warnings:bytes*=3 hostnames:bytes*=4",
    "XPlane": "name:bytes=2 lines:XLine*=3 event_metadata:XEventEntry*=4 stat_metadata:XStatEntry*=5",
    "XEventEntry": "key:int64=1 value:XEventMetadata=2",
    "XEventMetadata": "name:bytes=2 stats:XStat*=5",
    "XStatEntry": "key:int64=1 value:XStatMetadata=2",
    "XStatMetadata": "name:bytes=2",
    "XLine": "name:bytes=2 timestamp_ns:int64=3 events:XEvent*=4",
    "XEvent": (
        "metadata_id:int64=1 data|offset_ps:int64=2 duration_ps:int64=3 stats:XStat*=4 data|num_occurrences:int64=5"
    ),
    "XStat": (
        "metadata_id:int64=1 value|uint64_value:uint64=3 value|int64_value:int64=4 value|str_value:bytes=5"
        " value|ref_value:uint64=7"
    ),
    # Checkpoints: what lies in their index, and how the objects of a program hold the variables.
    "BundleHeaderProto": "num_shards:int32=1 endianness:int32=2 version:VersionDef=3",
    "BundleEntryProto": (
        "dtype:int32=1 shape:TensorShapeProto=2 shard_id:int32=3 offset:int64=4 size:int64=5 crc32c:fixed32=6"
        " slices:TensorSliceProto*=7"
    ),
    "TensorSliceProto": "extent:Extent*=1",
    "Extent": "start:int64=1 has_length|length:int64=2",
    "TrackableObjectGraph": "nodes:TrackableObject*=1",
    "TrackableObject": (
        "children:ObjectReference*=1 attributes:SerializedTensor*=2 slot_variables:SlotVariableReference*=3"
    ),
    "SerializedTensor": "name:string=1 full_name:string=2 checkpoint_key:string=3",
    "SlotVariableReference": "original_variable_node_id:int32=1 slot_name:string=2 slot_variable_node_id:int32=3",
    # What goes between TensorFlow's runtime and a debug server. An entry of a map from numbers is a message.
    "EventReply": "debug_op_state_changes:StateChange*=1",
    "StateChange": "state:int32=1 node_name:string=2 output_slot:int32=3 debug_op:string=4",
    "CallTraceback": "graph_traceback:OpLogProto=5",
    "OpLogProto": "log_entries:OpLogEntry*=1 id_to_string:IdEntry*=2",
    "OpLogEntry": "name:string=1 code_def:CodeDef=4",
    "CodeDef": "traces:CodeTrace*=1",
    "CodeTrace": "file_id:int64=6 lineno:int32=2 function_id:int64=7 line_id:int64=8",
    "IdEntry": "key:int64=1 value:string=2",
    "DebuggedSourceFiles": "source_files:DebuggedSourceFile*=1",
    "DebuggedSourceFile": "file_path:string=2 lines:string*=5",
}

_FIELD = re.compile(r"(?:(?P<oneof>\w+)\|)?(?P<name>\w+):(?P<type>\w+)(?P<many>[*%]?)=(?P<number>\d+)")
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    name: getattr(_Field, f"TYPE_{name.upper()}")
    for name in ("double", "float", "int64", "uint64", "int32", "uint32", "fixed32", "bool", "string", "bytes")
}


def _set_type(field: Any, type_name: str) -> None:
    if type_name in _SCALARS:
        field.type = _SCALARS[type_name]
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{type_name}"


def _add_field(message: Any, match: re.Match[str]) -> None:
    field = message.field.add(name=match["name"], number=int(match["number"]))
    field.label = _Field.LABEL_REPEATED if match["many"] else _Field.LABEL_OPTIONAL
    if match["many"] == "%":
        entry = message.nested_type.add(name=f"{match['name'].title()}Entry")
        entry.options.map_entry = True
        for number, name in enumerate(("key", "value"), 1):
            part = entry.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
            _set_type(part, "string" if name == "key" else match["type"])
        _set_type(field, f"{message.name}.{entry.name}")
        return
    _set_type(field, match["type"])
    if match["oneof"]:
        if not message.oneof_decl:
            message.oneof_decl.add(name=match["oneof"])
        field.oneof_index = 0


def _build() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="tfdbg_cli/formats/schema.proto", package=PACKAGE, syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for match in _FIELD.finditer(fields):
            _add_field(message, match)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in MESSAGES
    }


CLASSES = _build()
Event: Any = CLASSES["Event"]
TensorProto: Any = CLASSES["TensorProto"]
GraphDef: Any = CLASSES["GraphDef"]
FunctionDefLibrary: Any = CLASSES["FunctionDefLibrary"]
NodeDef: Any = CLASSES["NodeDef"]
SummaryValue: Any = CLASSES["SummaryValue"]
DebugEvent: Any = CLASSES["DebugEvent"]
EventHead: Any = CLASSES["EventHead"]
FunctionDef: Any = CLASSES["FunctionDef"]
EventReply: Any = CLASSES["EventReply"]
CallTraceback: Any = CLASSES["CallTraceback"]
DebuggedSourceFiles: Any = CLASSES["DebuggedSourceFiles"]
