"""What a bundle would run is known before anything of it runs."""

from __future__ import annotations

import numpy as np
import pytest
from support.ending import ends

from tfdbg_cli.formats.bundles.replay_graph import ReplayFacts, graph_facts
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.ops.data_handles import DATA_HANDLES
from tfdbg_cli.ops.harmless_ops import HARMLESS

X = np.ones(1, np.float32)


def _node(container: object, name: str, op: str, *inputs: str, calls: str = "", **texts: str) -> None:
    node = container.add(name=name, op=op)  # type: ignore[attr-defined]
    node.input.extend(inputs)
    if calls:
        node.attr["f"].func.name = calls
    for key, text in texts.items():
        node.attr[key].s = text.encode()


def _session(graph: object, *fetches: str, inputs: tuple[ReplayInput, ...] = ()) -> ReplayFacts:
    return graph_facts(ReplaySpec(RunKind.SESSION, graph.SerializeToString(), "", fetches, inputs))  # type: ignore[attr-defined]


def _library(**functions: list[tuple[str, str, str]]) -> object:
    """Functions by name: (node, op, the function that it calls) of each node."""
    library = schema.FunctionDefLibrary()
    for name, nodes in functions.items():
        function = library.function.add()
        function.signature.name = name
        for node, op, calls in nodes:
            _node(function.node_def, node, op, calls=calls)
    return library


def _function(library: object, entry: str) -> ReplayFacts:
    return graph_facts(ReplaySpec(RunKind.FUNCTION, library.SerializeToString(), entry))  # type: ignore[attr-defined]


def test_only_what_is_fetched_counts() -> None:
    """Every graph of TensorFlow 1 holds the ops of a Saver, which nobody runs."""
    graph = schema.GraphDef()
    _node(graph.node, "x", "Placeholder")
    _node(graph.node, "y", "Square", "x")
    _node(graph.node, "save", "SaveV2", "y")
    _node(graph.node, "z", "Log", "y", "^save")
    assert _session(graph, "y:0") == ReplayFacts({})
    assert _session(graph, "z:0").outside == {"SaveV2": "save"}
    assert _session(graph, "save").outside == {"SaveV2": "save"}


def test_what_is_given_is_not_computed_again() -> None:
    graph = schema.GraphDef()
    _node(graph.node, "answer", "PyFunc")
    _node(graph.node, "y", "Log", "answer")
    _node(graph.node, "z", "Log", "answer:1")
    drawn = (ReplayInput("answer:0", InputRole.SOURCE, "float32", X),)
    assert _session(graph, "y:0").outside == {"PyFunc": "answer"}
    assert not _session(graph, "y:0", inputs=drawn).outside
    assert _session(graph, "z:0", inputs=drawn).outside == {"PyFunc": "answer"}


def test_what_was_read_by_an_op_that_drew_something_is_computed_again() -> None:
    """A replay shows it. Handles of data sets are not shown, and so not made."""
    graph = schema.GraphDef()
    _node(graph.node, "name", "ReadFile")
    _node(graph.node, "lines", "TextLineDataset", "name")
    _node(graph.node, "iterator", "OneShotIterator", "lines")
    _node(graph.node, "next", "IteratorGetNext", "iterator")
    _node(graph.node, "y", "Log", "next")
    drawn = (ReplayInput("next:0", InputRole.SOURCE, "float32", X),)
    assert _session(graph, "y:0", inputs=drawn).outside == {"ReadFile": "name"}
    graph.node[0].op = "Const"
    assert not _session(graph, "y:0", inputs=drawn).outside
    _node(graph.node, "other", "Identity", "lines")
    _node(graph.node, "z", "NoOp", "^y", "^other")
    assert _session(graph, "z", inputs=drawn).outside == {"TextLineDataset": "lines"}


@pytest.mark.parametrize(
    "op",
    [
        "ReduceDataset",
        "DatasetToSingleElement",
        "DatasetToTFRecord",
        "SaveDatasetV2",
        "RegisterDatasetV2",
        "MakeIterator",
    ],
)
def test_what_is_shown_waits_for_an_op_of_data_sets(op: str) -> None:
    """A blind test: such ops counted as handles, which nobody makes; so they and their functions ran unasked."""
    graph = schema.GraphDef()
    _node(graph.node, "set", op, calls="inner")
    _node(graph.node, "shape", "Identity", "x", "^set")
    _node(graph.node, "draw", "RandomUniform", "shape")
    _node(graph.node, "y", "Log", "draw")
    graph.library = _library(inner=[("it", "WriteFile", "")]).SerializeToString()  # type: ignore[attr-defined]
    drawn = (ReplayInput("draw:0", InputRole.SOURCE, "float32", X),)
    assert _session(graph, "y:0", inputs=drawn).outside == {op: "set", "WriteFile": "inner/it"}


@pytest.mark.parametrize("waits", ["^iterator", "iterator"])
def test_a_handle_is_made_where_what_is_shown_needs_it(waits: str) -> None:
    """A blind test: the function that makes the data set of an iterator ran unasked."""
    graph = schema.GraphDef()
    _node(graph.node, "iterator", "OneShotIterator", calls="data")
    _node(graph.node, "shape", "Identity", waits)
    _node(graph.node, "draw", "RandomUniform", "shape")
    _node(graph.node, "y", "Log", "draw")
    graph.library = _library(data=[("it", "ReadFile", "")]).SerializeToString()  # type: ignore[attr-defined]
    drawn = (ReplayInput("draw:0", InputRole.SOURCE, "float32", X),)
    found = {"OneShotIterator": "iterator", "ReadFile": "data/it"}
    assert _session(graph, "y:0", inputs=drawn).outside == found


def test_an_op_that_drew_runs_again_for_what_waits_for_it() -> None:
    """A blind test: an op of which a value is given counted as one that does not run."""
    graph = schema.GraphDef()
    _node(graph.node, "answer", "PyFunc")
    _node(graph.node, "shape", "Identity", "x", "^answer")
    _node(graph.node, "draw", "RandomUniform", "shape")
    _node(graph.node, "y", "AddV2", "draw", "answer")
    given = tuple(ReplayInput(name, InputRole.SOURCE, "float32", X) for name in ("answer:0", "draw:0"))
    assert _session(graph, "y:0", inputs=given).outside == {"PyFunc": "answer"}
    assert not _session(graph, "answer:0", inputs=given[:1]).outside


def test_an_op_that_is_run_for_its_own_sake_runs_although_its_value_is_given() -> None:
    """A blind test: the op `answer` was taken for the tensor `answer:0`."""
    graph = schema.GraphDef()
    _node(graph.node, "answer", "PyFunc")
    drawn = (ReplayInput("answer:0", InputRole.SOURCE, "float32", X),)
    assert _session(graph, "answer", inputs=drawn).outside == {"PyFunc": "answer"}


def test_the_node_of_a_variable_is_run_too() -> None:
    graph = schema.GraphDef()
    _node(graph.node, "y", "Log")
    _node(graph.node, "w", "WriteFile")
    inputs = (ReplayInput("w", InputRole.VARIABLE, "float32", X, "w"),)
    assert _session(graph, "y:0", inputs=inputs).outside == {"WriteFile": "w"}


@pytest.mark.parametrize(
    "op",
    [
        "ReadFile", "WriteFile", "MatchingFiles", "SaveV2", "RestoreV2", "PyFunc", "PyFuncStateless", "EagerPyFunc",
        "RemoteCall", "RpcCall", "DebugIdentity", "DebugIdentityV3", "Copy", "ImmutableConst", "TextLineDataset",
        "InitializeTableFromTextFileV2", "FixedUnigramCandidateSampler", "Skipgram", "LoadAndRemapMatrix", "Abort",
        "DecodeProtoV2", "CreateSummaryFileWriter", "XlaCustomCallV2", "NobodyKnowsIt", "RegisterDataset",
        "MergeV2Checkpoints", "LMDBReader", "WholeFileReaderV2", "GenerateVocabRemapping", "DumpTensor",
    ],
)  # fmt: skip
def test_what_reaches_outside_is_named(op: str) -> None:
    assert op not in HARMLESS
    library = _library(step=[("call", "StatefulPartitionedCall", "inner")], inner=[("it", op, "")])
    assert _function(library, "step").outside == {op: "inner/it"}


def test_printing_into_a_file_reaches_outside() -> None:
    graph = schema.GraphDef()
    _node(graph.node, "a", "PrintV2", output_stream="stderr")
    _node(graph.node, "b", "PrintV2", output_stream="file:///tmp/x")
    assert not _session(graph, "a").outside
    assert _session(graph, "b").outside == {"PrintV2": "b"}


def test_functions_in_the_graph_of_a_session_count() -> None:
    graph = schema.GraphDef()
    _node(graph.node, "call", "PartitionedCall", calls="inner")
    graph.library = _library(inner=[("it", "ReadFile", "")]).SerializeToString()  # type: ignore[attr-defined]
    assert _session(graph, "call").outside == {"ReadFile": "inner/it"}


@pytest.mark.parametrize(
    "library",
    [
        _library(f=[("a", "PartitionedCall", "f")]),
        _library(f=[("a", "f", "")]),
        _library(f=[("a", "PartitionedCall", "g")], g=[("a", "While", "f")]),
        _library(**{f"f{i or ''}": [(n, "PartitionedCall", f"f{i + 1}") for n in "ab"] for i in range(60)}, f60=[]),
        _library(**{f"f{i or ''}": [("a", "PartitionedCall", f"f{i + 1}")] for i in range(5000)}, f5000=[]),
    ],
    ids=["itself", "by name", "in a circle", "doubling", "deep"],
)
def test_calls_without_an_end_are_told(library: object) -> None:
    with ends("looking at the calls"):
        assert _function(library, "f").endless


@pytest.mark.parametrize("entry", ["step", "first"])
def test_a_function_that_may_be_called_in_the_place_of_another_counts(entry: str) -> None:
    """A blind test: the optimizer calls the one for the device that is there, and it wrote a file."""
    library = _library(
        step=[("call", "PartitionedCall", "first")], first=[("it", "Log", "")], other=[("it", "WriteFile", "")]
    )
    assert not _function(library, entry).outside
    for function in library.function:  # type: ignore[attr-defined]
        if function.signature.name != "step":
            function.attr["api_implements"].s = b"logarithm"
    found = {"step": "other/it", "first": "it"}
    assert _function(library, entry).outside == {"WriteFile": found[entry]}


def test_calls_that_end_are_fine() -> None:
    library = _library(
        f=[("a", "PartitionedCall", "g"), ("b", "PartitionedCall", "g"), ("c", "If", "h")],
        g=[("a", "PartitionedCall", "h")],
        h=[("a", "Log", "")],
    )
    assert _function(library, "f") == ReplayFacts({})
    assert _function(library, "nobody") == ReplayFacts({})


def test_a_graph_that_is_none_is_damage() -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        graph_facts(ReplaySpec(RunKind.FUNCTION, b"\xff\xff", "f"))


@pytest.mark.tf
def test_the_table_names_ops_of_tensorflow_and_none_that_is_given_a_file() -> None:
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    known = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    ops = {op.name: op for op in known.op}
    there = [ops[name] for name in HARMLESS if name in ops]
    assert len(there) > 1000
    for op in there:
        words = {part for argument in (*op.input_arg, *op.attr) for part in argument.name.split("_")}
        assert not words & {"file", "filename", "filenames", "path", "address", "url", "urls"}, op.name


@pytest.mark.tf
def test_the_table_of_handles_names_ops_that_give_nothing_to_look_at() -> None:
    from tensorflow.core.framework import op_def_pb2, types_pb2
    from tensorflow.python.client import pywrap_tf_session

    known = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    there = [op for op in known.op if op.name in DATA_HANDLES]
    assert len(there) > 100
    for op in there:
        assert op.output_arg, op.name
        for output in op.output_arg:
            assert output.is_ref or output.type in {types_pb2.DT_VARIANT, types_pb2.DT_RESOURCE}, op.name
