"""Files with graphs, written without TensorFlow: a GraphDef, a SavedModel with a function, a RunMetadata."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfdbg_cli.formats.messages import schema

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def graph_def() -> Any:
    """Three nodes that read each other, and the function `half`, in which an output is read by its name."""
    graph = schema.GraphDef()
    for name, op, inputs in (
        ("x", "Placeholder", ()),
        ("net/call", "PartitionedCall", ("x",)),
        ("net/out", "Identity", ("net/call:1", "^x")),
    ):
        node = graph.node.add(name=name, op=op, input=inputs)
        node.attr["T"].type = 1
    graph.node[1].attr["f"].func.name = "half"
    graph.library = schema.FunctionDefLibrary(function=[function_def()]).SerializeToString()
    return graph


def function_def() -> Any:
    """`half(x)`, which splits x in two and gives both halves back."""
    function = schema.CLASSES["FunctionDef"]()
    function.signature.name = "half"
    function.signature.input_arg.add(name="x", type=1)
    for name in ("low", "high"):
        function.signature.output_arg.add(name=name, type=1)
    split = function.node_def.add(name="parts", op="Split", input=["x", "x"])
    split.attr["num_split"].i = 2
    function.node_def.add(name="top", op="TopKV2", input=["parts:output:1", "x", "^parts"])
    function.node_def.add(name="picked", op="Identity", input=["top:indices:0"])
    function.ret["low"] = "parts:output:0"
    function.ret["high"] = "picked:output:0"
    return function


def meta_graph_def() -> Any:
    """The graph with definitions of its ops, a signature, and an object that has the function."""
    meta = schema.CLASSES["MetaGraphDef"]()
    meta.meta_info_def.tags.append("serve")
    meta.meta_info_def.tensorflow_version = "2.21.0"
    for name, outputs in (("Split", ("output",)), ("TopKV2", ("values", "indices")), ("Identity", ("output",))):
        op = meta.meta_info_def.stripped_op_list.op.add(name=name)
        for output in outputs:
            op.output_arg.add(name=output, number_attr="num_split" if name == "Split" else "")
    meta.graph_def = graph_def().SerializeToString()
    signature = meta.signature_def["serving_default"]
    for part, key, tensor in ((signature.inputs, "x", "x:0"), (signature.outputs, "y", "net/out:0")):
        part[key].name, part[key].dtype = tensor, 1
        part[key].tensor_shape.dim.add(size=-1)
    objects = schema.CLASSES["SavedObjectGraph"]()
    objects.nodes.add().children.add(node_id=1, local_name="halves")
    objects.nodes.add().function.concrete_functions.append("half")
    meta.object_graph_def = objects.SerializeToString()
    return meta


def saved_model(folder: Path) -> Path:
    """A SavedModel in `folder`; the path of its file."""
    model = schema.CLASSES["SavedModel"](saved_model_schema_version=1)
    model.meta_graphs.append(meta_graph_def().SerializeToString())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "saved_model.pb"
    path.write_bytes(model.SerializeToString())
    return path


def run_metadata() -> Any:
    """Times of two ops and the graph that ran; the graphs of a function before and after its optimization."""
    metadata = schema.CLASSES["RunMetadata"]()
    stats = schema.CLASSES["StepStats"]()
    device = stats.dev_stats.add(device=DEVICE)
    for at, name in enumerate(("x", "net/out")):
        device.node_stats.add(
            node_name=name, all_start_micros=1_000 + at, op_start_rel_micros=1, op_end_rel_micros=5 + at,
            all_end_rel_micros=9, timeline_label=f"{name} = Exp()",
        )  # fmt: skip
    metadata.step_stats = stats.SerializeToString()
    metadata.partition_graphs.append(graph_def().SerializeToString())
    function = metadata.function_graphs.add()
    function.pre_optimization_graph = graph_def().SerializeToString()
    optimized = graph_def()
    del optimized.node[1]
    function.post_optimization_graph = optimized.SerializeToString()
    function.partition_graphs.append(optimized.SerializeToString())
    return metadata


TEXT = """\
# a comment with a brace {
node {
  name: "x"
  op: "Placeholder"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 3 } } } }
}
node {
  name: "net/out"
  attr { key: "T" value { type: DT_HALF_REF } }
  op: "Identity"
  input: "x"
  input: '^net/\\x77ait'
  device: "/device:" "CPU:0"
}
library {
  function {
    signature { name: "half" input_arg { name: "a" type: DT_INT32 } output_arg { name: "b" type: DT_INT32 } }
    node_def { name: "n" op: "Neg" input: "a" }
    ret { key: "b" value: "n:y:0" }
  }
}
versions { producer: 21 }
"""
