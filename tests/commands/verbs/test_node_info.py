"""`node_info`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import sample_run, sample_step
from support.golden import check_golden
from support.made_run import CPU, OTHER, made_graph, made_run, op
from support.prompt import ask, follow_all, json_of, links_of, text_of

from tfdbg_cli.commands.verbs import node_info
from tfdbg_cli.commands.views.traceback_lines import folded_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame

KERAS = "/usr/lib/python3.11/site-packages/keras/src/layers/core/dense.py"
TF = "/usr/lib/python3.11/site-packages/tensorflow/python/ops/math_ops.py"


def test_screens() -> None:
    run = sample_run.sample_run()
    check_golden("commands/ni", text_of("ni loss/mul", run))
    check_golden("commands/ni_all", text_of("ni -a -d -t loss/Mean", run))


def test_tensor_names_and_slices_name_their_node() -> None:
    run = sample_run.sample_run()
    for name in ("prob", "prob:0", "prob:0:DebugIdentity", "'prob:0[0, :]'"):
        assert json_of(f"ni {name}", run)["name"] == "prob"


def test_json_has_the_fixed_names() -> None:
    found = json_of("ni loss/Mean", sample_run.sample_run())
    assert found["kind"] == "node"
    assert (found["name"], found["op_type"], found["device"]) == ("loss/Mean", "Mean", sample_run.CPU0)
    assert (found["inputs"], found["control_inputs"]) == (["loss/mul:0", "loss/Const:0"], ["init"])
    assert (found["outputs"], found["control_outputs"]) == ([], [])
    assert found["traceback"][0] == {
        "file": "/home/ada/train.py", "line": 8, "function": "<module>",
        "text": "loss = tf.reduce_mean(y * tf.log(prob))",
    }  # fmt: skip
    assert json_of("ni init", sample_run.sample_run())["control_outputs"] == ["loss/Mean"]


@pytest.mark.parametrize(
    "command", ["ni -a -d -t loss/Mean", "ni x", "ni init", "ni -d step/while/Add", "ni -d grad/unique"]
)
def test_every_link_leads_somewhere(command: str) -> None:
    assert follow_all(command, sample_run.sample_run()) > 2


def test_defect_wrong_index_of_dumps_of_a_node_with_several_outputs() -> None:
    """TensorFlow's tfdbg: `ni -d` counts its -n index over all slots, so the link shows another tensor or fails."""
    links = links_of("ni -d grad/unique", sample_run.sample_run())
    assert links["slot 0"] == "pt grad/unique:0" and links["slot 1"] == "pt grad/unique:1"
    loop = ask("ni -d step/while/Add", sample_run.sample_run()).lines(80)
    found = [span.link for line in loop for span in line.spans if span.text == "slot 0"]
    assert found == [f"pt step/while/Add:0 -n {i}" for i in range(3)]


def test_frames_of_libraries_are_folded_until_asked_for() -> None:
    stack = (
        Frame("/home/ada/net.py", 3, "<module>", "model.build()"),
        Frame(KERAS, 50, "build", "super().build()"),
        Frame(TF, 7, "matmul", "return gen_math_ops.mat_mul(a)"),
        Frame(TF, 8, "matmul", ""),
    )
    run = made_run(op("a", "Add", value=[1.0]))
    run = Run(run.call, run.tensors, run.graph, tracebacks={"a": stack})
    folded = text_of("ni -t a", run)
    assert "3 frames in keras, tensorflow" in folded and "math_ops" not in folded
    assert links_of("ni -t a", run)["3 frames in keras, tensorflow"] == "ni -t --all a"
    assert "math_ops.py:8 in matmul" in text_of("ni -t --all a", run)


def test_frames_lead_to_their_line_of_source() -> None:
    assert links_of("ni -t prob", sample_run.sample_run())["/home/ada/train.py:7"] == "ps /home/ada/train.py -b 7"


def test_sends_receives_and_return_nodes_are_hidden() -> None:
    key = {"tensor_name": "edge_5_a", "send_device": CPU, "recv_device": OTHER}
    run = made_run(
        op("a", "Add", value=[1.0]), op("a/_0", "_Send", "a", **key), op("a/_1", "_Recv", device=OTHER, **key),
        op("b", "Neg", "a/_1", device=OTHER, value=[1.0]), op("r", "_Retval", "b", device=OTHER),
    )  # fmt: skip
    assert json_of("ni b", run)["inputs"] == ["a:0"] and json_of("ni b", run)["outputs"] == []
    assert json_of("ni a", run)["outputs"] == ["b"]
    assert "through send and receive" in text_of("ni b", run)


def test_before_a_run_there_are_no_values_but_a_graph() -> None:
    text = text_of("ni -d loss/mul", sample_run.run_start())
    assert "2 inputs" in text and "0 captured tensors" in text


def test_a_node_that_only_the_program_knows() -> None:
    run = sample_run.sample_run(graph=made_graph(op("fused", "Add")), python_graph=sample_run.graph(GraphKind.PYTHON))
    found = json_of("ni prob", run)
    assert found["op_type"] == "Relu" and found["graph"] == "Python graph" and "optimizer" in found["note"]


def test_nodes_of_one_name_on_two_devices() -> None:
    run = made_run(op("n", "Add"), op("n", "Sub", device=OTHER))
    assert json_of("ni n", run)["op_type"] == "Add" and "--device" in json_of("ni n", run)["note"]
    assert json_of("ni n --device CPU:1", run)["op_type"] == "Sub"
    with pytest.raises(TfdbgError, match="on a device like 'GPU'"):
        ask("ni n --device GPU", run)


def test_an_unknown_node_names_the_nearest() -> None:
    with pytest.raises(TfdbgError, match="Did you mean loss/Mean"):
        ask("ni loss/Men", sample_run.sample_run())


def test_names_with_control_characters_are_made_visible() -> None:
    run = made_run(op("a\x1b[2J", "Add", "x", a="\x1b]0;b\x07"), op("x", "Const"))
    text = text_of("ni -a x", run)
    assert "\x1b" not in text and "a\\x1b[2J" in text


def test_a_large_graph_makes_only_the_rows_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = [Node(f"n{i}", "Add", CPU, (TensorName("n", 0),)) for i in range(100_000)]
    run = Run(Call(1, RunKind.SESSION, ("n9:0",)), graph=Graph([Node("n", "Const", CPU), *reads]))
    made: list[str] = []
    monkeypatch.setattr(node_info, "node_link", lambda name: made.append(name) or "")
    lines = ask("ni n", run).lines(80)
    assert len(lines) > 100_000 and "100,000 recipients" in "".join(lines[i].text for i in range(9))
    assert len(made) < 1000


def test_a_node_in_nested_functions() -> None:
    run = sample_step.step_run()
    check_golden("commands/ni_nested", text_of("ni -d cell/Mul", run))
    links = links_of("ni cell/Mul", run)
    assert links[sample_step.LOOP] == f"ni -d -t {sample_step.LOOP}"
    assert links["StatefulPartitionedCall"] == "ni -d -t StatefulPartitionedCall"
    assert follow_all("ni -d cell/Mul", run)


def test_the_device_of_a_node_that_was_not_placed_is_that_of_its_value() -> None:
    run = made_run(op("a", "Relu", value=1.0), op("b", "Relu", value=1.0, device=""), times=False)
    asked = made_graph(op("a", "Relu", device=""), op("b", "Relu", device=""))
    run = replace(run, graph=asked)
    assert f"Device   {CPU}" in text_of("ni a", run)
    assert "not recorded" in text_of("ni b", run)
    assert "device" not in text_of("pt b", run) and "device CPU:0" in text_of("pt a", run)


def test_a_saved_model_keeps_no_sources() -> None:
    run = sample_step.step_run()
    assert "loaded from a SavedModel, which keeps none" in text_of("ni -t cell/Mul", run, width=200)
    assert "No source is known: loaded from a SavedModel, which keeps none." in text_of("ls", run, width=200)
    shown = text_of("origin", run, width=200)
    assert "loaded from a SavedModel" in shown and "Called at" not in shown


def test_of_a_saved_model_the_line_that_called_it_is_known() -> None:
    made = (Frame("/home/ada/serve.py", 8, "<module>", "model.f(x)"),)
    run = replace(sample_step.step_run(), tracebacks={"StatefulPartitionedCall": made})
    shown = text_of("origin", run, width=200)
    assert "loaded from a SavedModel" in shown and "Called at /home/ada/serve.py:8 in <module>" in shown
    assert json_of("origin", run)["file"] is None


@pytest.mark.parametrize(
    ("file", "label"),
    [
        ("/v/lib/python3.11/site-packages/keras/src/layers.py", "keras"),
        ("/usr/lib/python3/dist-packages/six.py", "six"),
        ("<frozen runpy>", "runpy"),
        ("<frozen importlib._bootstrap>", "importlib"),
        ("/usr/lib/python3.11/threading.py", "threading"),
        ("/v/bin/tfdbg", "tfdbg"),
        ("/v/tfdbg_cli/launch.py", "tfdbg"),
        ("/t/__autograph_generated_filex1.py", "autograph"),
        ("C:\\Lib\\x.py", "python"),
    ],
)
def test_folded_frames_are_named_after_where_they_are_from(file, label) -> None:
    assert folded_text([Frame(file, 1, "f")]) == f"1 frame in {label}"


def test_of_the_op_that_failed_nothing_was_captured_since_it_failed() -> None:
    run = made_run(op("x", "Const", value=[1.0]), op("y", "MatMul", "x"), op("z", "Neg", "y"))
    failed = replace(run, error=RunError("InvalidArgumentError", "Matrix size-incompatible", "y"))
    assert "it gave nothing" in text_of("ni -d y", failed)
    assert "Folded by the optimizer" in text_of("ni -d z", failed)
    assert "Folded by the optimizer" in text_of("ni -d y", run)


def test_a_program_that_asks_for_a_part_of_a_device_shows_what_was_captured_there() -> None:
    run = made_run(op("x", "PyFunc", value=0.0))
    nodes = [node._replace(device="/job:localhost/replica:0/task:0") for node in run.graph]
    assert "1 captured tensor" in text_of("ni -d x", replace(run, graph=Graph(nodes, GraphKind.PYTHON)))
