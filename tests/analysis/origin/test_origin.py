"""The origin: the first tensor that is not finite although all its inputs are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from support import sample_run
from support.made_run import CPU, INF, NAN, OTHER, made_run, op

from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.analysis.origin.aftermath import aftermath
from tfdbg_cli.analysis.origin.origin_found import OnIntended
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import CallArgument, RunKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor
from tfdbg_cli.model.values import Lack, NoValue, Value
from tfdbg_cli.model.variables import ToldVariables

_KEY = {"tensor_name": "edge_1_a", "send_device": CPU, "recv_device": OTHER}


class CountingStore(MemoryTensorStore):
    """A store that counts how often each value is read."""

    def __init__(self, tensors: Sequence[Tensor], values: Sequence[Value]) -> None:
        super().__init__(tensors, values)
        self.reads: list[int] = []

    def value(self, index: int) -> Value:
        self.reads.append(index)
        return super().value(index)


def _found(run: Run, **options: object) -> str:
    origin = OriginSearch(run, **options).first()  # type: ignore[arg-type]
    return "" if origin is None else str(origin.name)


def test_the_first_in_order_of_execution() -> None:
    run = made_run(
        op("x", "Placeholder", value=[0.0]), op("log", "Log", "x", value=[-INF]), op("n", "Neg", "log", value=[INF])
    )
    assert _found(run) == "log:0"


def test_all_finite_gives_none() -> None:
    assert (
        OriginSearch(made_run(op("x", "Placeholder", value=[0.0]), op("i", "Cast", "x", value=np.arange(3)))).first()
        is None
    )


def test_nothing_captured_gives_none() -> None:
    assert OriginSearch(made_run(op("x", "Placeholder"))).first() is None


def test_a_runtime_that_reports_the_reader_first_is_traced_back_to_the_input() -> None:
    """Timestamps are taken beside the computation: issue 8337, "Causality violated in timing relations"."""
    run = made_run(
        op("x", "Const", value=[0.0]), op("log", "Log", "x", value=[-INF]), op("neg", "Neg", "log", value=[INF]),
        order=("x", "neg", "log"),
    )  # fmt: skip
    assert _found(run) == "log:0"


def test_through_identity_and_switch_that_were_not_captured() -> None:
    run = made_run(
        op("a", "Log", value=[-INF]), op("i", "Identity", "a"), op("s", "Switch", "i"),
        op("neg", "Neg", "s:1", value=[INF]),
        order=("neg", "a"),
    )  # fmt: skip
    assert _found(run) == "a:0"
    (seen,) = OriginSearch(run)._inputs.of(0)
    assert (str(seen.name), seen.instead) == ("s:1", "a:0")


def test_across_devices() -> None:
    """TensorFlow's tfdbg: with several devices TensorFlow's find scans device by device, so "first" is not first."""
    run = made_run(
        op("x", "Const", value=[0.0]),
        op("a", "Log", "x", value=[-INF]),
        op("a/_0", "_Send", "a", **_KEY),
        op("a/_1", "_Recv", device=OTHER, **_KEY),
        op("b", "Neg", "a/_1", device=OTHER, value=[INF]),
    )
    assert _found(run) == "a:0"
    origin_inputs = OriginSearch(run)._inputs.of(2)
    assert [(str(item.name), item.index) for item in origin_inputs] == [("a:0", 1)]


def test_in_a_loop_the_input_is_the_latest_one_before() -> None:
    run = made_run(
        op("m", "Merge", "n", values=([1.0], [2.0], [INF])),
        op("add", "Mul", "m", "m", values=([2.0], [INF], [INF])),
        op("n", "NextIteration", "add", values=([2.0], [INF])),
        order=("m", "add", "n", "m", "add", "n", "m", "add"),
    )
    origin = OriginSearch(run).first()
    assert origin is not None and origin.index == 4
    assert [item.index for item in origin.inputs] == [3, 3]


def test_values_are_read_once_in_order_up_to_the_first() -> None:
    ops = [op("n0", "Const", value=[1.0]), *(op(f"n{i}", "Neg", f"n{i - 1}", value=[1.0]) for i in range(1, 2000))]
    run = made_run(*ops, op("bad", "Log", "n1999", value=[-INF]), op("later", "Neg", "bad", value=[INF]))
    made = run.tensors
    store = CountingStore([made[i] for i in range(len(made))], [made.value(i) for i in range(len(made))])
    search = OriginSearch(Run(run.call, store, run.graph))
    origin = search.first()
    assert origin is not None and str(origin.name) == "bad:0"
    assert store.reads[:2001] == list(range(2001))
    # Beyond the scan only the origin itself and its neighbours are looked at again, for the screen.
    assert set(store.reads[2001:]) <= {1999, 2000, 2001} and len(store.reads) < 2015


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.float16, np.complex64, np.float64])
def test_defect_nan_in_bfloat16_and_float8_unseen(dtype: type) -> None:
    """TensorFlow's tfdbg: bfloat16 and float8 are not np.floating, so TensorFlow's filter misses NaN in them."""
    assert _found(made_run(op("a", "Cast", value=np.array([1, NAN]).astype(dtype)))) == "a:0"


def test_integers_and_opaque_values_are_passed_over() -> None:
    handle = NoValue(Lack.OPAQUE, "A resource handle holds no numbers.")
    run = made_run(op("h", "VarHandleOp", value=handle), op("i", "Const", value=np.arange(3)))
    assert OriginSearch(run).first() is None


def test_elements_name_the_inputs_that_made_them() -> None:
    origin = OriginSearch(sample_run.sample_run(), exclude_node_names="spectrum").first()
    assert origin is not None and str(origin.name) == "loss/Log:0"
    assert [element.index for element in origin.elements] == [(2, 0), (2, 1)]
    assert [[float(part.value) for part in element.parts if part] for element in origin.elements] == [[0.0], [0.0]]
    assert origin.frame is not None and (origin.frame.file, origin.frame.line) == ("/home/ada/train.py", 8)
    assert origin.batch_rows == (2,)
    assert origin.cause.text == "Log of 0: prob:0, a relu, is 0 at 2 elements."


def test_at_most_ten_elements() -> None:
    origin = OriginSearch(made_run(op("a", "Foo", value=np.full((5, 5), NAN)))).first()
    assert origin is not None and len(origin.elements) == 10


def test_a_scalar_has_one_element_without_index() -> None:
    origin = OriginSearch(made_run(op("x", "Const", value=0.0), op("a", "Log", "x", value=-INF))).first()
    assert origin is not None and [element.index for element in origin.elements] == [()]


def test_a_fed_nan_is_in_the_input() -> None:
    run = made_run(op("x", "Placeholder", value=[1.0, NAN]), feeds={"x:0": np.array([1.0, NAN])})
    origin = OriginSearch(run).first()
    assert origin is not None and origin.cause.text == "Already in the input x:0."


def test_the_runtimes_argument_is_called_by_the_name_of_the_feed() -> None:
    run = made_run(
        op("_arg_a/x_0_3", "_Arg", value=[NAN]), op("n", "Neg", "_arg_a/x_0_3", value=[NAN]), feeds={"a/x:0": [NAN]}
    )
    origin = OriginSearch(run).first()
    assert origin is not None and str(origin.name) == "a/x:0" and "input a/x:0" in origin.cause.text


def test_what_a_function_was_traced_with_and_a_number_of_eager_code_are_no_data_that_is_fed() -> None:
    run = made_run(op("x", "Placeholder", value=[1.0, NAN]), feeds={"x:0": np.array([1.0, NAN])})
    along = replace(run.call, kind=RunKind.FUNCTION, arguments=(CallArgument("x", "float32", (2,), captured=True),))
    origin = OriginSearch(replace(run, call=along)).first()
    assert origin is not None
    assert origin.cause.text == "Already in x:0, a tensor from outside that the function was traced with."
    assert "before the function is traced" in origin.cause.suggestion
    run = made_run(op("x", "Placeholder", value=INF), feeds={"x:0": np.array(INF)})
    origin = OriginSearch(replace(run, call=replace(run.call, kind=RunKind.EAGER)), benign=OnIntended.SHOW).first()
    assert origin is not None
    assert origin.cause.text == "Already in the number x:0, which Python gave to the op."
    assert "batch" not in origin.cause.suggestion


def test_a_feed_that_no_tensor_shows_is_the_origin() -> None:
    run = made_run(op("x", "Placeholder"), op("n", "Neg", "x", value=[NAN, 1.0]), feeds={"x:0": [NAN, 1.0]})
    origin = OriginSearch(run).first()
    assert origin is not None
    assert (str(origin.name), origin.index, origin.batch_rows) == ("x:0", None, (0,))
    assert origin.cause.text == "Already in the input x:0."


def test_a_bad_feed_is_found_even_when_nothing_was_captured() -> None:
    run = made_run(op("x", "Placeholder"), feeds={"x:0": [[1.0], [INF]]})
    origin = OriginSearch(run).first()
    assert origin is not None and str(origin.name) == "x:0" and origin.batch_rows == (1,)


def test_feeds_without_values_and_ragged_ones_are_left_aside() -> None:
    assert (
        OriginSearch(made_run(op("x", "Placeholder"), feeds={"x:0": None, "y:0": [[1.0], [1.0, 2.0]]})).first()
        is None
    )


def test_a_variable_that_is_bad_before_it_is_used() -> None:
    handle = NoValue(Lack.OPAQUE, "A resource handle holds no numbers.")
    run = made_run(op("w", "VarHandleOp", value=handle), op("mm/ReadVariableOp", "ReadVariableOp", "w", value=[NAN]))
    origin = OriginSearch(run).first()
    assert origin is not None and origin.cause.text.startswith("Variable w was already not finite when it was read")
    run = made_run(op("w", "VariableV2", value=[NAN]), op("w/read", "Identity", "w", value=[NAN]))
    origin = OriginSearch(run).first()
    assert origin is not None and (str(origin.name), origin.cause.text[:10]) == ("w:0", "Variable w")


def test_a_constant_says_so() -> None:
    origin = OriginSearch(made_run(op("mask", "Const", value=[-INF]))).first()
    assert origin is not None and "constant itself" in origin.cause.text and "--nan" in origin.cause.suggestion


def test_nan_only_passes_masks() -> None:
    run = made_run(
        op("mask", "Const", value=[-INF, -INF]), op("x", "Const", value=[0.0, 1.0]),
        op("sum", "AddV2", "x", "mask", value=[-INF, -INF]), op("soft", "Softmax", "sum", value=[NAN, NAN]),
    )  # fmt: skip
    assert _found(run, benign=OnIntended.SHOW) == "mask:0"
    origin = OriginSearch(run, nan_only=True).first()
    assert origin is not None and str(origin.name) == "soft:0" and "nothing but -inf" in origin.cause.text


def test_excluded_nodes_count_as_fine() -> None:
    run = made_run(op("mask", "Const", value=[-INF]), op("sum", "Neg", "mask", value=[INF]))
    assert _found(run, exclude_node_names="^mask$") == "sum:0"
    assert _found(run, exclude_node_names="mask|sum") == ""


def test_an_input_that_was_not_captured_is_said_to_be_so() -> None:
    run = made_run(op("c", "Const"), op("x", "Const", value=[1.0]), op("d", "RealDiv", "x", "c", value=[INF]))
    origin = OriginSearch(run).first()
    assert origin is not None
    assert [item.note for item in origin.inputs] == ["", "a constant, not captured"]
    assert origin.cause.text == "RealDiv gave 1 inf among 1 element; of its inputs c:0 was not seen."


def test_what_is_bad_before_an_op_that_was_not_captured_is_the_origin() -> None:
    before = op("x", "Placeholder", value=[0.0]), op("log", "Log", "x", value=[-INF])
    behind = op("d", "Identity", "neg", value=[INF])
    assert _found(made_run(*before, op("half", "Mul", "log", "log"), op("neg", "Neg", "half"), behind)) == "log:0"
    run = made_run(*before, op("neg", "ZerosLike", "log"), behind)
    assert [str(run.tensors[row].name) for row in OriginSearch(run).all()] == ["log:0", "d:0"]


def test_a_node_without_graph_keeps_to_the_facts() -> None:
    run = made_run(op("a", "Foo", value=[NAN, 1.0]))
    origin = OriginSearch(Run(run.call, run.tensors)).first()
    assert origin is not None and origin.node is None
    assert (
        origin.cause.text
        == "Foo gave 1 NaN among 2 elements; no graph at hand holds it, so its inputs are not known."
    )


def test_a_variable_fetched_after_its_update_is_not_blamed() -> None:
    """An extra fetch of a ref variable shares its memory, and shows what the step did to it."""
    ops = (
        op("w", "VariableV2", value=[NAN]), op("w/read", "Identity", "w", value=[NAN]),
        op("x", "Placeholder", value=[0.0]),
        op("log", "Log", "x", value=[-INF]), op("up", "ApplyGradientDescent", "w", "log", value=[NAN]),
    )  # fmt: skip
    assert _found(made_run(*ops, times=False)) == "log:0"
    assert _found(made_run(*ops, times=True)) == "w:0"


def test_a_variable_bad_from_before_is_still_blamed_for_what_reads_it() -> None:
    run = made_run(
        op("w", "VariableV2", value=[NAN]), op("x", "Placeholder", value=[1.0]),
        op("mm", "Mul", "x", "w", value=[NAN]),
        op("up", "ApplyGradientDescent", "w", "mm", value=[NAN]), times=False,
    )  # fmt: skip
    assert _found(run) == "w:0"


def test_an_update_that_overflows_is_not_blamed_on_the_variable_it_wrote() -> None:
    run = made_run(
        op("w", "VariableV2", value=[INF]), op("lr", "Const", value=3e38), op("g", "Const", value=[3e38]),
        op("up", "ApplyGradientDescent", "w", "lr", "g", value=[INF]), times=False,
    )  # fmt: skip
    assert _found(run) == "up:0"


def test_every_origin_and_what_came_after() -> None:
    run = made_run(
        op("a", "Const", value=[NAN]),
        op("b", "Neg", "a", value=[NAN]),
        op("c", "Foo", value=[INF]),
        op("d", "Foo", value=[1.0]),
    )
    search = OriginSearch(run)
    origin = search.first()
    assert origin is not None
    assert search.all() == [0, 2]
    after = search.spoiled(origin)
    assert (after.bad, after.seen, after.total) == (2, 3, 3)
    assert aftermath(run, search.lineage, lambda index: True, 0, budget=0).seen == 1


def test_damaged_values_are_passed_over() -> None:
    run = made_run(
        op("d", "Foo", value=NoValue(Lack.DAMAGED, "The file is truncated.")), op("n", "Log", "d", value=[NAN])
    )
    origin = OriginSearch(run).first()
    assert origin is not None and [item.note for item in origin.inputs] == ["The file is truncated."]
    assert origin.inputs[0].value is None


def test_what_a_loop_takes_out_of_a_list_was_made_before_it() -> None:
    """As Keras' GRU reads its input: a tensor becomes a TensorArray, of which each turn takes one."""
    handle = NoValue(Lack.OPAQUE, "A list holds no numbers.")
    run = made_run(
        op("x", "Const", value=np.zeros((2, 1))), op("log", "Log", "x", value=np.full((2, 1), -INF)),
        op("from", "TensorListFromTensor", "log", value=handle), op("i", "Const", value=np.array(0)),
        op("item", "TensorListGetItem", "from", "i", values=(np.full(1, -INF), np.full(1, -INF))),
        op("w/after_update", "UpdatedVariable", "item", value=np.full(1, -INF)),
    )  # fmt: skip
    search = OriginSearch(run)
    assert [str(run.tensors[row].name) for row in search.all()] == ["log:0"]
    origin = search.first()
    assert origin is not None and search.harmful(origin) == (origin, 0)


@pytest.mark.parametrize("kind", ["Neg", "Abs", "Reshape", "Relu"])
def test_what_an_op_cannot_have_made_of_what_is_shown_is_the_optimizers(kind: str) -> None:
    """-log(1 - p + 1e-9) at 1, where TensorFlow adds up the constants first: what is shown is what was written."""
    run = made_run(op("log", "Log", "x", value=[-0.2, -20.7]), op("loss", kind, "log", value=[0.2, INF]))
    origin = OriginSearch(run).first()
    assert origin is not None and "and cannot have made it of log:0" in origin.cause.text
    assert "(1 + 1e-9) - p" in origin.cause.suggestion


def test_a_forward_op_that_ran_behind_its_gradient_is_the_origin() -> None:
    """Ops that do not wait for each other run in any order: the gradient of 0 / 0 came first in a session."""
    run = made_run(
        op("sum", "Placeholder", value=[0.0, 2.0]),
        op("count", "Placeholder", value=[0.0, 1.0]),
        op("gradients/ratio_grad/Neg", "Neg", "sum", value=[-0.0, -2.0]),
        op("gradients/ratio_grad/RealDiv_1", "RealDiv", "gradients/ratio_grad/Neg", "count", value=[NAN, -2.0]),
        op("ratio", "RealDiv", "sum", "count", value=[NAN, 2.0]),
    )
    origin = OriginSearch(run).first()
    assert origin is not None
    assert origin.name.node == "ratio"
    assert "sum:0 and count:0 are both 0" in origin.cause.text
    spoiled = made_run(
        op("sum", "Placeholder", value=[1.0]),
        op("count", "Placeholder", value=[1.0]),
        op("gradients/ratio_grad/Neg", "Neg", "sum", value=[-1.0]),
        op("gradients/ratio_grad/RealDiv_1", "RealDiv", "gradients/ratio_grad/Neg", "count", value=[NAN]),
        op("nan", "Const", value=[NAN]),
        op("ratio", "RealDiv", "nan", "count", value=[NAN]),
    )
    later = OriginSearch(spoiled).first()
    assert later is not None
    assert later.name.node == "gradients/ratio_grad/RealDiv_1", "the forward op is bad for another reason"


def test_a_row_that_is_masked_throughout_is_told_from_the_mask() -> None:
    """A blind test: the -inf of the mask was blamed, with no row, and -1e9 in its place was a wrong maximum."""
    scores = np.array([[1.0, -INF], [-INF, -INF]], np.float32)
    run = made_run(
        op("x", "Placeholder", value=np.ones((2, 2), np.float32)),
        op("kept", "Placeholder", value=np.isfinite(scores)), op("closed", "Const", value=np.float32(-INF)),
        op("scores", "SelectV2", "kept", "x", "closed", value=scores), op("axis", "Const", value=np.int32(1)),
        op("y", "Max", "scores", "axis", value=np.array([1.0, -INF], np.float32)),
        feeds={"x:0": np.ones((2, 2), np.float32)},
    )  # fmt: skip
    found = OriginSearch(run).first()
    assert found is not None and str(found.name) == "y:0" and found.batch.rows == (1,)
    assert found.cause.text.startswith("The largest of a row that is nothing but -inf: scores:0")


@pytest.mark.parametrize("assigns", ["AssignVariableOp", "AssignAddVariableOp"])
def test_what_is_read_behind_an_update_of_the_run_itself_is_no_origin_of_its_own(assigns: str) -> None:
    """A blind test: of one fault 79 origins were listed, 78 of them reads of Adam's moments behind their updates."""
    run = made_run(
        op("x", "Placeholder", value=[-1.0]), op("v", "VarHandleOp"), op("log", "Log", "x", value=[NAN]),
        op("write", assigns, "v", "log"), op("read", "ReadVariableOp", "v", value=[NAN], control=("write",)),
        op("y", "Sqrt", "read", value=[NAN]),
    )  # fmt: skip
    assert [run.tensors[row].node for row in OriginSearch(run).all()] == ["log"]


def test_what_the_run_was_given_is_among_all_origins() -> None:
    """A blind test: `origin` named a variable of a function, and `origin --all` nothing."""
    run = made_run(
        op("w", "Placeholder"), op("x", "Placeholder"), op("y", "Mul", "x", "w", value=[NAN]),
        op("z", "Neg", "w", value=[NAN]), op("log", "Log", "x", value=[-INF]), feeds={"w": [NAN], "x": [0.0]},
    )  # fmt: skip
    given, *tensors = OriginSearch(run).all()
    assert isinstance(given, InputSeen) and str(given.name) == "w:0" == _found(run)
    assert [run.tensors[row].node for row in tensors] == ["log"]


def test_what_the_run_was_given_and_nothing_shows_is_among_all_origins() -> None:
    run = made_run(op("x", "Placeholder"), feeds={"x:0": [[1.0], [NAN]]})
    assert [str(place.name) for place in OriginSearch(run).all()] == ["x:0"] == [_found(run)]


def test_what_was_bad_before_a_fine_update_is_an_origin() -> None:
    run = made_run(
        op("v", "VarHandleOp"), op("x", "Placeholder", value=[1.0]), op("write", "AssignAddVariableOp", "v", "x"),
        op("read", "ReadVariableOp", "v", value=[NAN], control=("write",)),
    )  # fmt: skip
    assert [run.tensors[row].node for row in OriginSearch(run).all()] == ["read"]


def test_rows_are_not_blamed_for_a_variable_that_is_infinite() -> None:
    """A blind test: rows were bad where the product happened to be NaN, and the one fine where it was infinite."""
    weights = np.array([[INF], [-INF]], np.float32)
    batch = np.array([[1.0, 1.0], [1.0, -1.0]], np.float32)
    run = made_run(
        op("w", "VarHandleOp"), op("x", "Placeholder", value=batch), op("read", "ReadVariableOp", "w", value=weights),
        op("y", "MatMul", "x", "read", value=np.array([[NAN], [INF]], np.float32)),
        feeds={"x:0": batch},
    )  # fmt: skip
    search = OriginSearch(replace(run, variables=ToldVariables({"w": True})))
    origin = search.first()
    assert origin is not None and str(origin.name) == "read:0"
    nan = search.nan_after(origin)
    assert nan is not None and str(nan.name) == "y:0" and not nan.batch.rows


def test_a_gradient_of_a_power_whose_exponent_a_damaged_graph_lacks() -> None:
    run = made_run(
        op("x", "Placeholder", value=[0.0]),
        op("pow", "Pow", "x", value=[0.0]),
        op("gradient_tape/pow/Pow", "Pow", "x", value=[INF]),
    )
    assert _found(run) == "gradient_tape/pow/Pow:0"
