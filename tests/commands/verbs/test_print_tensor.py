"""`pt`: names, slices, executions, devices, ranges, summaries, files."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from support import sample_run
from support.golden import check_golden
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.document.text import Style
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore, describe


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(sample_run.run_end())


def holding(value: object, dtype: str = "", device: str = "/device:CPU:0") -> Prompt:
    """A prompt on a run with the one tensor v:0."""
    array = np.asarray(value)
    tensor = describe(TensorName("v", 0), array, device=device, op_type="Op", dtype=dtype or name_of(array.dtype))
    return Prompt(RunEnd(sample_run.sample_run(tensors=MemoryTensorStore([tensor], [array]), graph=Graph())))


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("pt", "pt loss/Log:0"),
        ("pt_summary", "pt loss/mul:0 -s -r [[0,1],[2,inf]]"),
        ("pt_executions", "pt step/while/Add"),
        ("pt_execution", "pt step/while/Add -n 1 -s"),
        ("pt_elided", "pt big"),
        ("pt_uninitialized", "pt cold"),
        ("pt_strings", "pt names"),
        ("pt_complex", "pt spectrum -s"),
        ("pt_bfloat16", "pt half/Cast -s"),
    ],
)
def test_screens(prompt: Prompt, name: str, command: str) -> None:
    check_golden(f"commands/{name}", prompt.show(command))


def value(prompt: Prompt, command: str) -> object:
    return prompt.data(command)["value"]


@pytest.mark.parametrize(
    "slicing", ["[0]", "[-1]", "[..., 0]", "[1:, -1]", "[::-2]", "[None, 0]", "[:, 0:1]", "[-3:-1, ...]"]
)
def test_slices_are_those_of_python(prompt: Prompt, slicing: str) -> None:
    """TensorFlow's tfdbg: no negative or `...` slices."""
    expected = eval(f"sample_run.X{slicing}", {"sample_run": sample_run})
    assert value(prompt, f"pt 'x:0{slicing}'") == expected.tolist()
    assert value(prompt, f"pt x{slicing}") == expected.tolist()


@pytest.mark.parametrize("slicing", ["[9]", "[0,0,0]", "[a]", "[0][1]", "[1.5]", "[::0]", "[True]"])
def test_bad_slices_are_said(prompt: Prompt, slicing: str) -> None:
    assert "slice" in prompt.error(f"pt x{slicing}").message


def test_names(prompt: Prompt) -> None:
    assert value(prompt, "pt prob") == value(prompt, "pt prob:0:DebugIdentity") == sample_run.PROB.tolist()
    assert "grad/unique has 2 outputs" in prompt.error("pt grad/unique").message
    assert "grad/unique:0 or grad/unique:1" in prompt.error("pt grad/unique").hint
    assert "no captured output 7" in prompt.error("pt x:7").message
    assert "loss/Log" in prompt.error("pt loss/Logg").hint
    assert "no value of it was captured" in prompt.error("pt init").message
    python = sample_run.sample_run(python_graph=Graph([Node("gone", "Const", "")], GraphKind.PYTHON))
    assert "folded, fused or pruned" in Prompt(RunEnd(python)).error("pt gone").message


def test_executions(prompt: Prompt) -> None:
    assert value(prompt, "pt step/while/Add -n 0") == 1
    assert value(prompt, "pt step/while/Add -n -1") == 3
    assert "0 to 2" in prompt.error("pt step/while/Add -n 3").hint
    assert "produced once" in prompt.error("pt x -n 1").message
    listed = prompt.data("pt step/while/Add")
    assert listed["kind"] == "tensors" and [t["execution"] for t in listed["tensors"]] == [0, 1, 2]
    assert [t["summary"]["max"] for t in listed["tensors"]] == [1, 2, 3]
    assert value(prompt, prompt.link("pt step/while/Add", "3")) == 3
    assert value(prompt, prompt.link("pt step/while/Add -n 1 -s", "after")) == 3
    assert "-s" in prompt.link("pt step/while/Add -n 1 -s", "after")


def test_summary_with_a_number(prompt: Prompt) -> None:
    """TensorFlow's tfdbg: `pt -s -n` ignored -s."""
    assert "Numeric summary" in prompt.show("pt step/while/Add -n 1 -s")


def test_one_name_on_two_devices() -> None:
    devices = (sample_run.CPU0, sample_run.CPU1)
    arrays = [np.float32([1]), np.float32([2])]
    tensors = [
        describe(TensorName("v", 0), array, device=device, op_type="Op", dtype="float32")
        for array, device in zip(arrays, devices, strict=True)
    ]
    prompt = Prompt(RunEnd(sample_run.sample_run(tensors=MemoryTensorStore(tensors, arrays), graph=Graph())))
    assert "on 2 devices" in prompt.error("pt v:0").message and "--device CPU:1" in prompt.error("pt v:0").hint
    for text in ("CPU:1", "cpu:1", "/device:CPU:1", sample_run.CPU1):
        assert value(prompt, f"pt v --device {text}") == [2]
    assert value(prompt, f"pt {sample_run.CPU1}:v:0") == [2]
    assert value(prompt, "pt /job:localhost/replica:0/task:0/cpu:0:v") == [1]
    assert "not on a device 'GPU:0'" in prompt.error("pt v --device GPU:0").message
    assert "not on a device 'PU:1'" in prompt.error("pt v --device PU:1").message
    links = [link for link in prompt.links("lt") if link.startswith("pt")]
    assert [value(prompt, link) for link in links] == [[1], [2]]


def test_ranges(prompt: Prompt) -> None:
    shown = prompt.show("pt x -r [4,6]")
    assert "Highlighted: 3 of 12 (25.00%)" in shown and "first at [1, 0], [1, 1], [1, 2]" in shown
    assert "first at [0, 0], [0, 1], [0, 2] of the slice" in prompt.show("pt x:0[1:] -r [4,6]")
    assert "of the slice" not in shown
    marked = [span.text for span in prompt.spans("pt x -r [4,6]") if span.style is Style.MARK]
    assert marked == ["4.", "5.", "6."]
    assert prompt.data("pt x -r [[-inf,0],[9,inf]]")["highlighted"] == {"count": 4, "size": 12}
    assert "Highlighted: 2 of 8" in prompt.show("pt loss/Log -r [-inf,-100]")
    for bad in ("4", "[1,0]", "[a,b]", "[[1,2],3]", "[nan,1]", "[1,2,3]"):
        assert prompt.error(f"pt x -r {bad}").message
    assert "real numbers" in prompt.error("pt names -r [0,1]").message
    assert "Highlighted: 2 of 3" in holding([True, False, True]).show("pt v -r [1,1]")
    assert "Highlighted: 1 of 2" in holding(np.array([0.5, 2], ml_dtypes.bfloat16)).show("pt v -r [0,1]")


@pytest.mark.parametrize(
    "array",
    [
        np.array([1 + 1j, np.nan]),
        np.array([0.5, np.nan], ml_dtypes.bfloat16),
        np.array([0.5, np.nan]).astype(ml_dtypes.float8_e5m2),
        np.array([1, -2], ml_dtypes.int4),
        np.array([True, False]),
        np.array([b"a", b"b"], object),
        np.array([], np.float32),
        np.array(np.inf, np.float16),
        np.array([2**63], np.uint64),
        np.zeros((2, 0, 3)),
    ],
    ids=lambda a: f"{a.dtype}{list(a.shape)}",
)
def test_every_type_has_a_screen_and_a_summary(array: np.ndarray) -> None:
    """TensorFlow's tfdbg: complex summary TypeError; no summary of bfloat16."""
    prompt = holding(array)
    assert "Numeric summary" in prompt.show("pt v -s")
    assert prompt.data("pt v")["summary"]["size"] == array.size
    assert prompt.data("pt v")["summary"]["nan"] == (
        np.isnan(array).sum() if array.dtype.kind in "fcV" and array.dtype != ml_dtypes.int4 else 0
    )


def test_booleans_are_counted() -> None:
    shown = holding([True, False, True]).show("pt v -s").split("\n")
    assert shown[3].split() == ["False", "True", "total"] and shown[4].split() == ["1", "2", "3"]


def test_json_fields(prompt: Prompt) -> None:
    data = prompt.data("pt prob:0")
    assert data["kind"] == "tensor" and data["elided"] is False
    assert {"name", "node", "slot", "device", "op_type", "dtype", "shape", "nbytes", "execution", "t_ms"} < set(data)
    assert value(prompt, "pt loss/mul:0") == [
        ["-inf" if v == -np.inf else "nan" if v != v else v for v in row] for row in sample_run.MUL.tolist()
    ]
    lacking = prompt.data("pt cold")
    assert lacking["value"] is None and lacking["summary"] is None and lacking["lack"] == "uninitialized"


def test_long_values_are_elided_unless_all_is_asked_for(prompt: Prompt) -> None:
    data = prompt.data("pt big")
    assert data["elided"] is True and data["value"][3] == "..." and len(data["value"]) == 7
    assert prompt.data("pt big -a")["elided"] is False and len(value(prompt, "pt big --all")) == 50
    assert prompt.data("pt big --threshold 5000")["elided"] is False
    assert "..." in prompt.show("pt x --threshold 3 --edgeitems 1")
    assert len(prompt.document("pt big -a").lines(80)) > 500


def test_print_flags_hold_for_one_screen(prompt: Prompt) -> None:
    """TensorFlow's tfdbg: global numpy printoptions leak."""
    before = np.get_printoptions()
    assert "[[0.32 1.95]" in prompt.show("pt loss/Log --precision 2")
    assert "e-" not in prompt.show("pt big --suppress")
    assert max(map(len, prompt.show("pt big --linewidth 40").split("\n")[4:])) <= 40
    assert np.get_printoptions() == before
    with np.printoptions(precision=1, nanstr="N/A"):
        assert "N/A" in prompt.show("pt loss/mul")
    assert prompt.error("pt x --linewidth 0").hint and prompt.error("pt x --precision -1").hint


def test_write(prompt: Prompt, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    assert f"Saved value to: {path} (" in prompt.show(f"pt x[0] -w {path}", 300)
    assert np.load(path).tolist() == sample_run.X[0].tolist()
    assert "exists" in prompt.error(f"pt w -w {path}").message
    prompt.run(f"pt w -w {path} --force")
    assert np.load(path).tolist() == sample_run.W.tolist()
    assert "Cannot write" in prompt.error(f"pt w -w {tmp_path}/no/such/a.npy").message
    assert prompt.error(f"pt w -w {tmp_path} --force").message.startswith("Cannot write")
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "home") == ["a.npy"], "no temporary file is left"
    assert "nothing to write" in prompt.error(f"pt cold -w {tmp_path}/b.npy").message
    assert "produced 3 times" in prompt.error(f"pt step/while/Add -w {tmp_path}/b.npy").message


@pytest.mark.parametrize("name", ["x" * 300, "\ud800", "a\0b", "~nobody_of_this_name/x"])
def test_what_no_file_can_be_called_is_said(prompt: Prompt, name: str) -> None:
    assert prompt.error(f"pt w -w {name}").message.endswith(".")
    assert prompt.error(f"pt w > {name}").message.endswith(".")


def test_a_precision_that_numpy_refuses_is_said(prompt: Prompt) -> None:
    assert "makes no sense" in prompt.error("pt w --precision 99999999999999999999").message


def test_write_what_npy_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    assert "as float32" in holding(np.array([0.5], ml_dtypes.bfloat16)).show(f"pt v -w {path}", 300)
    assert np.load(path).tolist() == [0.5]
    holding(np.array([[b"ab", b"c"]], object)).run(f"pt v -w {path} --force")
    assert np.load(path).tolist() == [[b"ab", b"c"]]
    assert "zero byte" in holding(np.array([b"a\0"], object)).error(f"pt v -w {path} --force").message


def test_an_array_of_any_size_opens_at_once() -> None:
    array = np.broadcast_to(np.float32(1), (1 << 20, 1 << 10))
    tensor = describe(TensorName("v", 0), np.zeros(1), device="", op_type="Op", dtype="float32")
    prompt = Prompt(RunEnd(sample_run.sample_run(tensors=MemoryTensorStore([tensor], [array]), graph=Graph())))
    assert "1,073,741,824 elements; -s summarizes them" in prompt.show("pt v")
    assert "..." in prompt.show("pt v")


def test_redirection_writes_the_screen(prompt: Prompt, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    prompt.run(f"pt x > {path}")
    assert path.read_text().startswith("Tensor x:0\n") and "[7. 8. 9.]]" in path.read_text()


def test_other_debug_ops_are_tensors_of_their_own() -> None:
    array = np.arange(3.0)
    name = TensorName("x_0_DebugNumericSummary", 0)
    tensor = describe(name, array, device="", op_type="DebugNumericSummary", dtype="float64")
    prompt = Prompt(RunEnd(sample_run.sample_run(tensors=MemoryTensorStore([tensor], [array]))))
    assert value(prompt, "pt x:0:DebugNumericSummary") == [0, 1, 2]
    assert prompt.data("ev `x:0:DebugNumericSummary[0]`[1]")["value"] == 1
    assert "DebugNanCount" in prompt.error("pt x:0:DebugNanCount").message


@pytest.mark.parametrize("name", ["rate", "rate:0"])
def test_what_was_given_is_shown_where_no_tensor_shows_it(name: str, tmp_path: Path) -> None:
    """As of code that runs eagerly, whose numbers are no tensors of the run."""
    run = made_run(op("rate", "Placeholder"), op("y", "Neg", "rate", value=[-1.0, -2.0]), feeds={"rate": [1.0, 2.0]})
    prompt = Prompt(RunEnd(run))
    assert value(prompt, f"pt {name}") == [1, 2]
    assert value(prompt, f"pt {name}[1:]") == [2]
    prompt.show(f"pt {name} -w {tmp_path / 'rate.npy'}", 80)
    np.testing.assert_array_equal(np.load(tmp_path / "rate.npy"), [1, 2])
    assert "There is no tensor 'rat" in prompt.error("pt rat").message
