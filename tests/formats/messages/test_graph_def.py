from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.graph_def import (
    SavedGraph,
    graph_def_of,
    graph_from_def,
    graph_from_parts,
    partition_def,
)
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName

RUNTIME = GraphKind.RUNTIME


def graph_def(*nodes: tuple[str, str, list[str]], device: str = "/cpu:0") -> bytes:
    graph = schema.GraphDef()
    for name, op, inputs in nodes:
        graph.node.add(name=name, op=op, device=device).input.extend(inputs)
    return graph.SerializeToString()


DEBUGGED = graph_def(
    ("x", "Placeholder", []),
    ("init", "NoOp", []),
    ("split", "Split", ["__copy_x_0", "^__dbg_x:0_0_DebugIdentity", "^init", "^init"]),
    ("sum", "AddV2", ["__copy_split_0", "__copy_split_1", "^__dbg_split:0_0_DebugIdentity", "^__copy_x_0"]),
    ("__copy_x_0", "Copy", ["x"]),
    ("__dbg_x:0_0_DebugIdentity", "DebugIdentity", ["__copy_x_0"]),
    ("__copy_split_0", "Copy", ["split"]),
    ("__copy_split_1", "CopyHost", ["split:1"]),
    ("__dbg_split:0_0_DebugIdentity", "DebugIdentity", ["__copy_split_0"]),
)


def test_nodes_of_the_debugger_are_taken_out_and_edges_closed() -> None:
    graph = graph_from_def(DEBUGGED, RUNTIME)
    assert list(graph.names()) == ["x", "init", "split", "sum"]
    assert graph.node("split").inputs == (TensorName("x", 0),)
    assert graph.node("split").control_inputs == ("init",)
    assert graph.node("sum").inputs == (TensorName("split", 0), TensorName("split", 1))
    assert graph.node("sum").control_inputs == ("x",)
    assert [node.name for node, _ in graph.consumers("x")] == ["split"]


def test_a_node_of_the_user_may_be_called_like_one_of_the_debugger() -> None:
    graph = graph_from_def(graph_def(("__copy_x_0", "MatMul", []), ("y", "Relu", ["__copy_x_0"])), RUNTIME)
    assert graph.node("y").inputs == (TensorName("__copy_x_0", 0),)


def test_a_circle_of_copies_ends() -> None:
    circle = graph_def(
        ("__copy_a_0", "Copy", ["__copy_b_0"]), ("__copy_b_0", "Copy", ["__copy_a_0"]), ("c", "Relu", ["__copy_a_0"])
    )
    assert len(graph_from_def(circle, RUNTIME)) == 1


def test_same_named_nodes_on_two_devices_stay_apart() -> None:
    parts = [("/gpu:0", graph_def(("n", "Neg", []))), ("/cpu:0", graph_def(("n", "Abs", [])))]
    graph = graph_from_parts(parts, RUNTIME)
    assert {device: graph.node("n", device).op_type for device in ("/gpu:0", "/cpu:0")} == {
        "/gpu:0": "Neg",
        "/cpu:0": "Abs",
    }


def test_a_node_is_one_object_before_and_after_all_are_made() -> None:
    """Who goes along the edges of a graph asks whether a node is that of the graph."""
    parts = [("/gpu:0", graph_def(("n", "Neg", []), ("m", "Abs", ["n"]))), ("/cpu:0", graph_def(("n", "Abs", [])))]
    graph = graph_from_parts(parts, RUNTIME)
    asked = [graph.node(name, device) for name, device in (("n", "/gpu:0"), ("n", "/cpu:0"), ("m", "/gpu:0"))]
    assert [graph.node(node.name, node.device) for node in asked] == asked
    assert all(graph.node(node.name, node.device) is node for node in asked), "while they are made one by one"
    made = list(graph)
    assert all(any(node is one for one in made) for node in asked)
    assert all(graph.node(node.name, node.device) is node for node in asked)
    assert len(made) == len(asked)


def test_duplicates_of_node_names_on_one_device_are_shown_once() -> None:
    """Defect of TensorFlow's debugger: "Duplicate node name" ends the reading of the whole dump."""
    parts = [("/cpu:0", graph_def(("n", "Neg", []))), ("/cpu:0", graph_def(("n", "Abs", []), ("m", "Abs", [])))]
    graph = graph_from_parts(parts, RUNTIME)
    assert [(node.name, node.op_type) for node in graph] == [("n", "Neg"), ("m", "Abs")]


def _channel(serialized: bytes, node: str) -> bytes:
    graph = schema.GraphDef.FromString(serialized)
    for proto in graph.node:
        if proto.name == node:
            for name, text in (("tensor_name", b"edge_7_a"), ("send_device", b"/cpu:0"), ("recv_device", b"/gpu:0")):
                proto.attr[name].s = text
    return graph.SerializeToString()


def test_receiving_reads_what_was_sent_from_another_device() -> None:
    sending = _channel(
        graph_def(("a", "Relu", []), ("a/_1", "_Send", ["__copy_a_0"]), ("__copy_a_0", "Copy", ["a"])), "a/_1"
    )
    receiving = _channel(graph_def(("a/_2", "_Recv", []), ("b", "Neg", ["a/_2"])), "a/_2")
    graph = graph_from_parts([("/gpu:0", receiving), ("/cpu:0", sending)], RUNTIME)
    assert graph.node("a/_2").inputs == (TensorName("a", 0),)


def test_a_receive_without_its_send_reads_nothing() -> None:
    graph = graph_from_def(graph_def(("r", "_Recv", [])), RUNTIME)
    assert graph.node("r").inputs == ()


def test_attributes_are_short_texts() -> None:
    graph = schema.GraphDef()
    attr = graph.node.add(name="n", op="X").attr
    attr["T"].type = 1
    attr["ref"].type = 101
    attr["flag"].b = False
    attr["count"].i = -3
    attr["rate"].f = 0.1
    attr["text"].s = b"caf\xc3\xa9 \xff"
    attr["long"].s = b"x" * 1000
    attr["shape"].shape.dim.add(size=-1)
    attr["shape"].shape.dim.add(size=3)
    attr["any_shape"].shape.unknown_rank = True
    attr["value"].tensor.dtype = 3
    attr["value"].tensor.tensor_shape.dim.add(size=2)
    attr["body"].func.name = "while_body"
    attr["types"].list.type.extend([1, 7])
    attr["ints"].list.i.extend(range(20))
    attr["none"].list.SetInParent()
    attr["empty"].SetInParent()
    texts = graph_from_def(graph.SerializeToString(), RUNTIME).node("n").attributes
    assert dict(texts) == {
        "T": "float32", "ref": "float32_ref", "flag": "False", "count": "-3", "rate": "0.1", "text": "café \\xff",
        "long": "x" * 200 + "… 1000 characters in all", "shape": "[?,3]", "any_shape": "?",
        "value": "int32 tensor of shape [2]", "body": "while_body", "types": "[float32, string]",
        "ints": "[0, 1, 2, 3, 4, 5, 6, 7, … 20 in all]", "none": "[]", "empty": "",
    }  # fmt: skip
    assert list(texts) == sorted(texts)
    assert "missing" not in texts and len(texts) == 15  # looking does not add


def test_damage_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="no GraphDef"):
        graph_from_def(b"\xff\xff\xff", RUNTIME)


@given(st.binary(max_size=60))
def test_random_bytes_raise_nothing_else(data: bytes) -> None:
    try:
        graph_from_def(data, RUNTIME)
    except ValueError as error:
        assert "GraphDef" in str(error)


def test_a_graph_is_written_as_it_was_read() -> None:
    assert graph_def_of(graph_from_def(DEBUGGED, RUNTIME)) == DEBUGGED


def test_a_graph_made_by_hand_comes_back() -> None:
    nodes = [
        Node("a", "Const", "/cpu:0", attributes={"dtype": "float32"}),
        Node("b", "Split", "/cpu:0", (TensorName("a", 0), TensorName("a", 2)), ("a",), {"T": "float32"}),
    ]
    again = graph_from_def(graph_def_of(Graph(nodes)), RUNTIME)
    assert [(n.name, n.op_type, n.device, n.inputs, n.control_inputs, dict(n.attributes)) for n in again] == [
        (n.name, n.op_type, n.device, n.inputs, n.control_inputs, dict(n.attributes)) for n in nodes
    ]


def test_a_partition_holds_the_named_nodes_on_its_device() -> None:
    for graph in (graph_from_def(DEBUGGED, RUNTIME), Graph([Node("x", "Placeholder", ""), Node("y", "Neg", "")])):
        part = graph_from_def(partition_def(graph, {"x"}, "/gpu:1"), RUNTIME)
        assert [(node.name, node.device) for node in part] == [("x", "/gpu:1")]


def test_nodes_can_be_added() -> None:
    graph = graph_from_def(DEBUGGED, RUNTIME)
    more = graph.with_nodes([Node("extra", "Neg", "")])
    assert isinstance(more, SavedGraph) and "extra" in more and "extra" not in graph
    assert more.parts == graph.parts
