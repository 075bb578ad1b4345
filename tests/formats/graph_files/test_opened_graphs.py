"""Graphs out of files: what is in them, what is shown of it, and what damage costs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from support.checkpoint_maker import checkpoint
from support.graph_file_maker import DEVICE, TEXT, graph_def, meta_graph_def, run_metadata, saved_model
from support.prompt import Prompt

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.graph_files.trained_variables import trained_variables
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Opened


def _written(path: Path, content: bytes | str) -> Opened:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return open_path(path)


def _edges(prompt: Prompt) -> dict[str, list[str]]:
    return {row["name"]: row["inputs"] for row in prompt.data("ln")["nodes"]}


def test_a_graph_and_its_functions(tmp_path: Path) -> None:
    opened = _written(tmp_path / "frozen.pb", graph_def().SerializeToString())
    prompt = Prompt(opened)
    assert [run.call.title for run in opened.runs] == ["graph of frozen.pb", "function half"]
    assert _edges(prompt) == {"x": [], "net/call": ["x:0"], "net/out": ["net/call:1"]}
    assert prompt.data("ni net/out")["control_inputs"] == ["x"]
    assert [node["name"] for node in prompt.data("path x net/out")["nodes"]] == ["x", "net/call", "net/out"]
    assert [(row["name"], row["nodes"]) for row in prompt.data("layers")["layers"]] == [("net", 2)]
    assert "net/call" in prompt.show("find call")
    assert [row["nodes"] for row in prompt.data("runs")["runs"]] == [3, 4]
    assert "2 graphs in" in prompt.show("runs")
    prompt.run("runs 2")
    assert _edges(prompt)["top"] == ["parts:1", "x:0"]
    assert _edges(prompt)["picked"] == ["top:0"]  # nobody defines the ops: the first output that is read


def test_what_is_about_values_says_that_there_are_none(tmp_path: Path) -> None:
    prompt = Prompt(_written(tmp_path / "frozen.pb", graph_def().SerializeToString()))
    commands = (
        "lt", "pt x", "origin", "alerts", "row", "eval `x:0`", "fq op", "history x", "trends", "set x 1",
        "again", "export x.npy x",
    )  # fmt: skip
    for command in commands:
        error = prompt.error(command)
        assert "This is a graph without values" in error.message, command
        assert "`ln`" in error.hint


def test_a_saved_model(tmp_path: Path) -> None:
    saved_model(tmp_path / "model")
    opened = open_path(tmp_path / "model")
    prompt = Prompt(opened)
    assert [run.call.title for run in opened.runs] == ["graph serve", "function half (halves)"]
    told = prompt.data("ri")
    assert (told["fetches"], told["arguments"][0]["name"]) == (["net/out:0"], "x:0")
    assert "Signature serving_default: x = x:0 float32[?] → y = net/out:0 float32[?]." in told["notes"]
    assert "Written by TensorFlow 2.21.0." in told["notes"]
    prompt.run("runs 2")
    assert _edges(prompt)["picked"] == ["top:1"]
    assert prompt.data("ri")["fetches"] == ["parts:0", "picked:0"]


def test_where_the_values_of_its_variables_are_is_said(tmp_path: Path) -> None:
    saved_model(tmp_path / "model")
    (tmp_path / "model" / "variables").mkdir()
    checkpoint(tmp_path / "model" / "variables" / "variables", {"big": np.arange(3.0)})
    prompt = Prompt(open_path(tmp_path / "model"))
    assert prompt.error("pt big ").hint.startswith(
        "The values of its variables are run 3: `runs 3`, and then `pt big`."
    )
    prompt.run("runs 3")
    assert prompt.data("pt big")["value"] == [0, 1, 2]
    (tmp_path / "model" / "variables" / "variables.index").write_bytes(b"damaged")
    damaged = Prompt(open_path(tmp_path / "model")).error("pt big")
    assert damaged.message.startswith("`print_tensor` is about values. This is a graph without values")


def test_a_meta_graph(tmp_path: Path) -> None:
    opened = _written(tmp_path / "model.ckpt-7.meta", meta_graph_def().SerializeToString())
    assert [run.call.title for run in opened.runs] == ["graph serve", "function half (halves)"]


def test_a_text(tmp_path: Path) -> None:
    opened = _written(tmp_path / "graph.pbtxt", TEXT)
    prompt = Prompt(opened)
    assert _edges(prompt) == {"x": [], "net/out": ["x:0"]}
    told = prompt.data("ni net/out")
    assert (told["control_inputs"], told["device"], told["attributes"]) == (
        ["net/wait"], "/device:CPU:0", {"T": "float16_ref"},
    )  # fmt: skip
    assert prompt.data("ni x")["attributes"] == {"dtype": "float32", "shape": "[?,3]"}
    prompt.run("runs 2")
    assert _edges(prompt) == {"a": [], "n": ["a:0"]}
    assert [argument.dtype for argument in opened.runs[1].call.arguments] == ["int32"]


def test_a_text_of_a_meta_graph(tmp_path: Path) -> None:
    text = (
        'meta_info_def { tags: "serve" stripped_op_list { op { name: "Neg" } } }\n'
        f"graph_def {{ {TEXT} }}\n"
        'signature_def { key: "f" value { inputs { key: "a" value { name: "x:0" dtype: DT_FLOAT } } } }\n'
    )
    opened = _written(tmp_path / "graph.pbtxt", text)
    assert [run.call.title for run in opened.runs] == ["graph serve", "function half"]
    assert "Signature f: a = x:0 float32[] → nothing." in opened.runs[0].notes


def test_metadata_of_a_run(tmp_path: Path) -> None:
    opened = _written(tmp_path / "metadata", run_metadata().SerializeToString())
    prompt = Prompt(opened)
    assert [run.call.title for run in opened.runs] == [
        "the run", "function graph 1", "function graph 1 before optimization", "function graph 1 after optimization",
    ]  # fmt: skip
    (device,) = prompt.data("lp")["devices"]
    times = [(one["node"], one["op_type"], one["op_us"]) for one in device["executions"]]
    assert (device["device"], times) == (DEVICE, [("x", "Placeholder", 4.0), ("net/out", "Identity", 5.0)])
    prompt.run("runs 2")
    assert len(opened.runs[1].graph) == 2 and "Not in the runtime graph" in prompt.show("ni net/call")


def test_names_do_not_reach_the_terminal_raw(tmp_path: Path) -> None:
    graph = graph_def()
    graph.node.add(name="bad\x1b[2J", op="\x1b]0;x\x07", device="\x1b[31m")
    prompt = Prompt(_written(tmp_path / "odd.pb", graph.SerializeToString()))
    for command in ("ln", "runs", "ri", "layers", "find bad"):
        assert "\x1b" not in prompt.show(command)


def test_a_damaged_node_costs_itself(tmp_path: Path) -> None:
    content = bytearray(graph_def().SerializeToString())
    at = content.index(b"net/out")
    content[at] = 0xFF  # no UTF-8
    opened = _written(tmp_path / "frozen.pb", bytes(content))
    assert sorted(opened.runs[0].graph.names()) == ["net/call", "x"]
    (note,) = [note for note in opened.runs[0].notes if "byte" in note]
    assert note.startswith("frozen.pb: a node at byte ") and note.endswith("cannot be read: the bytes are no node.")
    found = examined(tmp_path / "frozen.pb")
    assert found.what == "a GraphDef" and found.troubles[0][0] == note


@pytest.mark.parametrize("end", [0.3, 0.6, 0.95])
def test_a_file_that_was_cut_off_says_where(tmp_path: Path, end: float) -> None:
    for name, content in (
        ("frozen.pb", graph_def().SerializeToString()),
        ("saved_model.pb", saved_model(tmp_path / "whole").read_bytes()),
    ):
        size = int(len(content) * end)
        opened = _written(tmp_path / name, content[:size])
        assert any("cut off" in note and "at byte" in note for run in opened.runs for note in run.notes)


def test_text_that_is_damaged_says_where(tmp_path: Path) -> None:
    with pytest.raises(TfdbgError, match=r"graph.pbtxt: the text cannot be read at byte 9"):
        _written(tmp_path / "graph.pbtxt", 'node { } }\nnode { name: "x" }')
    opened = _written(tmp_path / "graph.pbtxt", TEXT[:200])
    assert any("ends inside of" in note for note in opened.runs[0].notes)


@pytest.mark.parametrize(
    ("there", "instead", "place", "reason"),
    [
        ('op: "Placeholder"', 'op: "Placeholder', "line 4, column 7", "a quote has no second one on its line"),
        ('op: "Placeholder"', 'op: Placeholder"', "line 4, column 18", "a quote has no second one on its line"),
        ('key: "T" value { type', 'key: "T value { type', "line 10, column 15", "a quote has no second one"),
        ('name: "x"', 'name "x"', "line 3, column 8", "name is followed by neither a colon nor a brace"),
        ('input: "x"', "input: %", "line 12, column 10", "no value of input begins so"),
        ("versions {", ": versions {", "line 23, column 1", "no field begins so"),
    ],
)
def test_a_mistake_in_a_text_is_named_with_its_place(
    tmp_path: Path, there: str, instead: str, place: str, reason: str
) -> None:
    path = tmp_path / "graph.pbtxt"
    try:
        told = _written(path, TEXT.replace(there, instead, 1)).runs[0].notes
    except TfdbgError as error:
        told = (error.message,)
    note, *_ = [note for note in told if "cannot be read" in note]
    assert f"({place}) cannot be read: {reason}" in note
    assert examined(path).troubles[0][0] == note


def test_forms_of_a_text_that_nobody_may_take_for_mistakes(tmp_path: Path) -> None:
    odd = (
        "\ufeffversions: < producer: 21; bad_consumers: [1, 2,] >,\n"
        'node { name: \'it is "x"\' "y\\"" op: "Const" # a "quote and a {\n'
        '  attr { key: "value" value { list { f: [1.5e-05, -inf, nan, .5] s: [ "a", "b" ]'
        " shape: [ { dim { size: -1 } }, { } ] } } } }\n"
        "meta_info_def { any_info { [type.googleapis.com/tensorflow.Any] { b: true } } }\n"
    )
    assert not _written(tmp_path / "graph.pbtxt", odd).runs[0].notes[1:]


def _flipped(content: bytes, name: bytes, count: int, letter: int = -1) -> bytes:
    """`content` with one bit changed in a letter of the `count`-th `name`."""
    changed = bytearray(content)
    at = [match.start() for match in re.finditer(re.escape(name), content)][count] + len(name) + letter
    changed[at] ^= 1
    return bytes(changed)


@pytest.mark.parametrize(
    ("name", "count", "told"),
    [
        (b"net/call", 0, "net/out reads net/call, and there is no such node"),
        (b"net/call", 1, "net/out reads net/calm, and there is no such node"),
        (b"half", 0, "net/call calls halg, and there is no such function"),
        (b"half", 1, "net/call calls half, and there is no such function"),
    ],
)
def test_one_bit_of_a_name(tmp_path: Path, name: bytes, count: int, told: str) -> None:
    path = tmp_path / "frozen.pb"
    opened = _written(path, _flipped(graph_def().SerializeToString(), name, count))
    assert f"frozen.pb: {told}." in opened.runs[0].notes
    assert [text for text, _ in examined(path).troubles] == [f"frozen.pb: {told}."]


def test_one_bit_of_a_name_in_a_function_and_of_a_signature(tmp_path: Path) -> None:
    content = _flipped(meta_graph_def().SerializeToString(), b"parts", 0)
    _written(tmp_path / "model.meta", content)
    told = [text for text, _ in examined(tmp_path / "model.meta").troubles]
    assert told == [
        "function half: top reads parts, and there is no such node.",
        "function half: parts is said to be an argument or a result, and there is no such node.",
    ]
    _written(tmp_path / "model.meta", _flipped(meta_graph_def().SerializeToString(), b"net/out", 1))
    told = [text for text, _ in examined(tmp_path / "model.meta").troubles]
    assert told == ["model.meta: net/ouu is said to be an argument or a result, and there is no such node."]


def test_two_nodes_of_one_name_and_names_that_are_none(tmp_path: Path) -> None:
    graph = graph_def()
    graph.node.add(name="x", op="Const")
    path = tmp_path / "frozen.pb"
    _written(path, graph.SerializeToString())
    assert [text for text, _ in examined(path).troubles] == [
        "frozen.pb: 2 nodes are called x, of which the first is shown."
    ]
    twice = f'node {{ name: "x" op: "Const" }}\n{TEXT}'
    assert any("2 nodes are called x" in note for note in _written(tmp_path / "graph.pbtxt", twice).runs[0].notes)
    graph = graph_def()
    graph.node.add(name="two words", op="Const")
    graph.node.add(name="y", op="Id\x01")
    _written(path, graph.SerializeToString())
    assert [text for text, _ in examined(path).troubles] == [
        "frozen.pb: two words has the name 'two words', which TensorFlow takes for none.",
        "frozen.pb: y has the op 'Id\\x01', which TensorFlow takes for none.",
    ]


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"hello, I am a text", b"\x89PNG\r\n\x1a\n"])
def test_what_is_no_graph_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(TfdbgError) as caught:
        _written(tmp_path / "frozen.pb", content)
    assert caught.value.hint
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(TfdbgError, match="no format"):
        open_path(tmp_path / "other")


def test_doctor_tells_of_a_saved_model(tmp_path: Path) -> None:
    saved_model(tmp_path)
    found = examined(tmp_path)
    assert found.what == "a SavedModel" and not found.troubles
    assert "graph serve: 3 nodes." in found.facts


def _with_variables() -> Any:
    """A meta graph with three variables: one trained, one not, one of which nothing is told."""
    meta = meta_graph_def()
    graph = graph_def()
    for name in ("kernel", "steps", "other"):
        node = graph.node.add(name=name, op="VarHandleOp")
        node.attr["dtype"].type = 1
        node.attr["shape"].shape.dim.add(size=3)
    meta.graph_def = graph.SerializeToString()
    for collection, names in (("variables", ("kernel", "steps")), ("trainable_variables", ("kernel",))):
        for name in names:
            definition = schema.CLASSES["VariableDef"](variable_name=f"{name}:0").SerializeToString()
            meta.collection_def[collection].bytes_list.value.append(definition)
    meta.collection_def["losses"].bytes_list.value.append(b"\xff no message")
    return meta


@pytest.mark.parametrize("as_text", [False, True])
def test_which_variables_are_trained(tmp_path: Path, as_text: bool) -> None:
    meta = _with_variables()
    content: bytes | str = meta.SerializeToString()
    if as_text:
        graph = schema.GraphDef.FromString(meta.graph_def)
        meta.graph_def = b""
        content = f"{text_format.MessageToString(meta)}\ngraph_def {{ {text_format.MessageToString(graph)} }}\n"
        content = re.sub(r"library: .*|object_graph_def: .*", "", content)
    rows = Prompt(_written(tmp_path / "model.meta", content)).data("lv")["variables"]
    assert {row["name"]: row["trainable"] for row in rows} == {"kernel": True, "steps": False, "other": None}
    assert rows[0]["shape"] == [3] and rows[0]["nbytes"] == 12 and rows[0]["read"] is None


def test_which_variables_the_objects_of_a_saved_model_train(tmp_path: Path) -> None:
    meta = _with_variables()
    meta.ClearField("collection_def")
    objects = schema.CLASSES["SavedObjectGraph"].FromString(meta.object_graph_def)
    for name, trainable in (("kernel", True), ("steps", False), ("other", True), ("other", False)):
        objects.nodes.add().variable.MergeFrom(schema.CLASSES["SavedVariable"](name=name, trainable=trainable))
    meta.object_graph_def = objects.SerializeToString()
    rows = Prompt(_written(tmp_path / "model.meta", meta.SerializeToString())).data("lv")["variables"]
    assert {row["name"]: row["trainable"] for row in rows} == {"kernel": True, "steps": False, "other": None}


@pytest.mark.parametrize(
    ("saved", "held", "told"),
    [
        ("Variable Variable x- Variable", "Variable Variable_1 x Variable_2", "Variable Variable_1 Variable_2"),
        ("a/Variable a/Variable", "a/Variable_3 a/Variable_7 Variable", "a/Variable a/Variable_3 a/Variable_7"),
        ("Variable Variable-", "Variable Variable_1", ""),
        ("Variable", "Variable Variable_1", "Variable"),
        ("w w", "w w_1", "w"),
    ],
)
def test_variables_without_names_are_numbered_in_the_graph(saved: str, held: str, told: str) -> None:
    objects = schema.CLASSES["SavedObjectGraph"]()
    for name in saved.split():
        variable = schema.CLASSES["SavedVariable"](name=name.rstrip("-"), trainable=not name.endswith("-"))
        objects.nodes.add().variable.MergeFrom(variable)
    found = trained_variables({}, objects, held.split())
    assert sorted(name for name, trained in found.items() if trained) == told.split()
