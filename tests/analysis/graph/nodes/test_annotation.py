"""Which files and lines made which nodes."""

from __future__ import annotations

import pytest
from support import sample_run
from support.made_run import made_graph, op

from tfdbg_cli.analysis.graph.nodes.annotation import (
    find_source,
    made_at,
    nodes_by_line,
    output_slots,
    source_files,
    traced_scope,
)
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.tensors import EMPTY_STORE

KERAS = "/usr/lib/python3.11/site-packages/keras/src/layers/core/dense.py"
TF = "/usr/lib/python3.11/site-packages/tensorflow/python/ops/math_ops.py"
OWN = "/home/ada/models/net.py"


def test_defect_keras_frames_shown_as_user_code() -> None:
    """TensorFlow's tfdbg: frames of keras count as the user's own."""
    graph = made_graph(op("dense/MatMul", "MatMul"))
    stack = (Frame(OWN, 7, "build"), Frame(KERAS, 150, "call"), Frame(TF, 3, "matmul"))
    files = source_files(graph, {"dense/MatMul": stack}, EMPTY_STORE)
    assert {file.path: file.library for file in files} == {OWN: False, KERAS: True, TF: True}
    found = made_at({"dense/MatMul": stack}, "dense/MatMul")
    assert found is not None and found.file == OWN


def test_counts_of_a_file() -> None:
    own, library = source_files(sample_run.graph(), sample_run.TRACEBACKS, sample_run.store())
    assert (own.path, own.nodes, own.tensors, own.dumps, own.first_line) == ("/home/ada/train.py", 9, 9, 9, 3)
    assert (library.library, library.first_line) == (True, 120)
    (narrow, _) = source_files(sample_run.graph(), sample_run.TRACEBACKS, sample_run.store(), "^loss/")
    assert (narrow.nodes, narrow.first_line) == (3, 8)


def test_a_node_counts_once_for_a_file_that_calls_itself() -> None:
    stack = (Frame(OWN, 9, "f"), Frame(OWN, 4, "g"), Frame(OWN, 6, "h"))
    (file,) = source_files(made_graph(op("a", "Add")), {"a": stack}, EMPTY_STORE)
    assert (file.nodes, file.first_line) == (1, 4)


def test_a_node_belongs_to_the_innermost_line_of_the_file() -> None:
    stack = (Frame(OWN, 9, "f"), Frame(OWN, 4, "g"), Frame(TF, 6, "h"))
    assert nodes_by_line(made_graph(op("a", "Add")), {"a": stack}, OWN) == {4: ["a"]}


def test_outputs_that_were_read_or_captured() -> None:
    assert output_slots(sample_run.graph(), sample_run.store(), "grad/unique") == [0, 1]
    assert output_slots(made_graph(op("s", "Split"), op("n", "Neg", "s:2")), EMPTY_STORE, "s") == [2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("net.py", OWN),
        ("models/net.py", OWN),
        ("./models/net.py", OWN),
        (OWN, OWN),
        ("et.py", None),
        ("dense.py", KERAS),
        ("other.py", None),
    ],
)
def test_the_last_parts_of_a_path_are_enough(text: str, found: str | None) -> None:
    assert find_source(text, [OWN, KERAS, TF]) == found


def test_the_users_own_file_wins_over_a_library_file() -> None:
    assert find_source("dense.py", [KERAS, "/home/ada/dense.py"]) == "/home/ada/dense.py"


def test_several_files_of_one_name_are_listed() -> None:
    with pytest.raises(TfdbgError, match=r"fits 2 files.*a/net.py, /home/b/net.py"):
        find_source("net.py", ["/home/a/net.py", "/home/b/net.py"])


def test_a_node_of_a_loop_body_was_made_where_the_loop_was() -> None:
    tracebacks = {"outer/step": (Frame(OWN, 12, "f"),)}
    assert traced_scope(tracebacks, "outer/step/body/_1/mul") == "outer/step"
    found = made_at(tracebacks, "outer/step/body/_1/mul")
    assert found is not None and found.line == 12
    assert traced_scope(tracebacks, "outer/stepper") is None and made_at(tracebacks, "outer") is None
