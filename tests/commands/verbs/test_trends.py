"""`trends`: norms of gradients, weights and updates over runs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pytest
from support.golden import check_golden
from support.made_run import Op, made_run, op
from support.prompt import Prompt, json_of, links_of, text_of
from support.screen import Driven
from support.trained_steps import trained_steps

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.gathered import PartOfStore
from tfdbg_cli.model.runs import Opened, RunEnd
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import TensorStore, gone, summary_of
from tfdbg_cli.model.values import NoValue


def test_norms_of_a_layer_run_by_run() -> None:
    series = {one["quantity"]: one for one in json_of("trends", trained_steps())["series"]}
    assert [one["name"] for one in series.values()] == ["dense"] * 3, "metrics and slots are no layers"
    assert all(one["steps"] == [5, 7, 8] for one in series.values()), "runs of another function do not count"
    assert series["gradient"]["values"] == [0.5, 50.0, "nan"]
    assert series["weight"]["values"] == [5.0, pytest.approx(math.sqrt(18)), pytest.approx(math.sqrt(34))]
    assert series["update"]["values"] == [1.0, 10.0, "nan"]


def test_screens() -> None:
    check_golden("commands/trends", text_of("trends", trained_steps()))
    check_golden("commands/trends_layer", text_of("trends dense --of gradient", trained_steps()))


def test_a_single_run_is_no_reach() -> None:
    stop = trained_steps()
    alone = text_of("trends", dataclasses.replace(stop, earlier=()))
    assert alone.splitlines()[0] == "L2 norms, layer by layer over 1 run, #8"


def test_at_a_kept_run_of_another_function_the_way_to_the_others_is_named() -> None:
    """A blind test: with nine runs kept it said how to keep runs."""
    prompt = Prompt(trained_steps())
    prompt.run("runs 2")
    shown = prompt.show("trends", 300)
    assert "3 runs of other functions or fetches left out: trends -a" in shown and "--keep" not in shown
    assert "trends dense -a" in prompt.show("trends dense", 300)
    assert "--keep" in text_of("trends", dataclasses.replace(trained_steps(), earlier=()), width=300)


def test_where_kept_runs_hold_no_norms_none_is_told_to_keep_more() -> None:
    run = made_run(op("x", "Placeholder", value=np.ones(2)))
    assert "--keep" not in text_of("trends", RunEnd(run, earlier=[run]), width=300)
    assert "--keep" in text_of("trends", run, width=300)


def test_a_layer_is_found_by_a_part_of_its_name() -> None:
    assert len(json_of("trends dense --of update", trained_steps())["series"]) == 1
    assert "There are no norms of a layer 'dnse'" in str(Prompt(trained_steps()).error("trends dnse"))


def test_rows_lead_to_a_curve_and_to_runs() -> None:
    assert links_of("trends", trained_steps())["gradient"] == "trends dense --of gradient"
    assert links_of("trends dense --of gradient", trained_steps())["#7"] == "runs 3"


def test_all_takes_runs_of_other_functions_too() -> None:
    assert json_of("trends -a --of weight", trained_steps())["series"][0]["steps"] == [5, 6, 7, 8]


def test_what_is_read_behind_an_update_is_not_taken_for_the_value_before_it() -> None:
    run = made_run(
        op("w", "VarHandleOp"),
        op("gradient_tape/slope", "Mul", value=np.array([1.0, 2.0])),
        op("update", "AssignSubVariableOp", "w", "gradient_tape/slope"),
        op("read", "ReadVariableOp", "w", value=np.array([4.0, 3.0]), control=("update",)),
        op("used", "Square", "read", value=np.array([16.0, 9.0])),
        op("w/after_update", "UpdatedVariable", "w", value=np.array([4.0, 3.0])),
    )
    told = json_of("trends", RunEnd(run))["series"]
    assert "update" not in {one["quantity"] for one in told}, "it is not known, and not 0"


def test_a_variable_in_no_layer_is_called_as_it_is_and_what_an_optimizer_keeps_is_no_layer() -> None:
    run = made_run(
        op("x", "Placeholder", value=np.ones((1, 2))),
        op("W", "VarHandleOp"),
        op("slot", "VarHandleOp"),
        op("beta1_power", "VarHandleOp"),
        op("beta1_power/Read/ReadVariableOp", "ReadVariableOp", "beta1_power", value=np.array(0.9)),
        op("ReadVariableOp_0", "ReadVariableOp", "W", value=np.array([[3.0], [4.0]])),
        op("MatMul_0", "MatMul", "x", "ReadVariableOp_0", value=np.ones((1, 1))),
        op("gradient_tape/MatMul_1", "MatMul", "x", "MatMul_0", value=np.array([[0.3], [0.4]])),
        op("Mul_0", "Mul", "gradient_tape/MatMul_1", value=np.ones((2, 1))),
        op("AssignAddVariableOp_0", "AssignAddVariableOp", "slot", "Mul_0"),
        op("ReadVariableOp_1", "ReadVariableOp", "slot", value=np.ones((2, 1))),
        op("AssignSubVariableOp_0", "AssignSubVariableOp", "W", "ReadVariableOp_1"),
        op("ReadVariableOp_2", "ReadVariableOp", "beta1_power", value=np.array(0.9)),
        op("AssignVariableOp_0", "AssignVariableOp", "beta1_power", "ReadVariableOp_2"),
        op("W/after_update", "UpdatedVariable", "W", value=np.array([[3.0], [3.0]])),
        op("slot/after_update", "UpdatedVariable", "slot", value=np.ones((2, 1))),
        op("beta1_power/after_update", "UpdatedVariable", "beta1_power", value=np.array(0.8)),
    )
    series = json_of("trends", RunEnd(run))["series"]
    assert {(one["name"], one["quantity"], *one["values"]) for one in series} == {
        ("W", "gradient", 0.5), ("W", "weight", 5.0), ("W", "update", 1.0),
    }  # fmt: skip


def _shown_norm(variable: str, scope: str) -> RunEnd:
    """A variable whose norm the function returns, read for it before the forward pass reads it in `scope`."""
    return RunEnd(made_run(
        op("x", "Placeholder", value=np.ones((1, 2))),
        op(variable, "VarHandleOp"),
        op("norm/Square/ReadVariableOp", "ReadVariableOp", variable, value=np.array([[3.0], [4.0]])),
        op("norm/Square", "Square", "norm/Square/ReadVariableOp", value=np.ones((2, 1))),
        op(f"{scope}MatMul/ReadVariableOp", "ReadVariableOp", variable, value=np.array([[3.0], [4.0]])),
        op(f"{scope}MatMul", "MatMul", "x", f"{scope}MatMul/ReadVariableOp", value=np.ones((1, 1))),
        op(f"gradient_tape/{scope}MatMul_1", "MatMul", "x", f"{scope}MatMul", value=np.array([[0.3], [0.4]])),
        op("AssignSubVariableOp_0", "AssignSubVariableOp", variable, f"gradient_tape/{scope}MatMul_1"),
        op(f"{variable}/after_update", "UpdatedVariable", variable, value=np.array([[3.0], [3.0]])),
    ))  # fmt: skip


@pytest.mark.parametrize(
    ("variable", "scope", "layer"),
    [("W", "", "W"), ("net/W", "net/", "net"), ("net/W", "net_1/", "net"), ("W", "a/", "a")],
)
def test_a_norm_that_is_shown_is_no_layer(variable: str, scope: str, layer: str) -> None:
    series = json_of("trends", _shown_norm(variable, scope))["series"]
    assert {(one["name"], one["quantity"], *one["values"]) for one in series} == {
        (layer, "gradient", 0.5), (layer, "weight", 5.0), (layer, "update", 1.0),
    }  # fmt: skip


def _cell_and_table(*updates: Op) -> RunEnd:
    """A weight in the cell of a layer whose gradient is named after the layer, and the gradient of a table."""
    slices = np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    return RunEnd(made_run(
        op("net/embedding/GatherV2", "GatherV2", "table", "indices", value=np.ones((3, 2))),
        op("net/rnn/cell/kernel", "VarHandleOp"),
        op("net/rnn/cell/read", "ReadVariableOp", "net/rnn/cell/kernel", value=np.array([[3.0, 4.0]])),
        op("net/rnn/cell/MatMul", "MatMul", "net/rnn/cell/read", "net/rnn/cell/read", value=np.ones((1, 1))),
        op("gradient_tape/net/rnn/MatMul", "MatMul", "net/rnn/cell/MatMul", value=np.array([[0.3, 0.4]])),
        op("assign", "AssignSubVariableOp", "net/rnn/cell/kernel", "gradient_tape/net/rnn/MatMul"),
        op("net/rnn/cell/kernel/after_update", "UpdatedVariable", "net/rnn/cell/kernel", "assign",
           value=np.array([[3.0, 3.0]])),
        op("gradient_tape/net/embedding/Reshape", "Reshape", "net/rnn/cell/MatMul", value=slices),
        op("indices", "Reshape", "net/rnn/cell/MatMul", value=np.array([7, 2, 2])),
        *updates,
    ))  # fmt: skip


def test_the_weights_of_a_cell_are_those_of_the_layer_whose_gradient_is_known() -> None:
    series = json_of("trends rnn", _cell_and_table())["series"]
    assert {(one["name"], one["quantity"], *one["values"]) for one in series} == {
        ("net/rnn", "gradient", 0.5), ("net/rnn", "weight", 5.0), ("net/rnn", "update", 1.0),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("updates", "norm"),
    [
        ([op("sum", "UnsortedSegmentSum", "gradient_tape/net/embedding/Reshape", "indices")], 5.0),
        ([op("scaled", "Mul", "gradient_tape/net/embedding/Reshape", "rate"),
          op("scatter", "ResourceScatterSub", "table", "indices", "scaled")], 5.0),
        ([op("each", "IdentityN", "assign", "gradient_tape/net/embedding/Reshape"),
          op("sum", "UnsortedSegmentSum", "each:1", "indices")], 5.0),
        ([op("each", "IdentityN", "assign", "gradient_tape/net/embedding/Reshape"),
          op("sum", "UnsortedSegmentSum", "each:0", "indices")], math.sqrt(19)),
        ([op("squared", "Square", "gradient_tape/net/embedding/Reshape")], math.sqrt(19)),
        ([op("scatter", "ResourceScatterSub", "gradient_tape/net/embedding/Reshape", "indices")], math.sqrt(19)),
    ],
    ids=["segments", "scattered", "clipped", "another's", "not told", "damaged"],
)  # fmt: skip
def test_the_gradient_of_a_table_is_added_up_by_its_rows(updates: list[Op], norm: float) -> None:
    series = json_of("trends embedding --of gradient", _cell_and_table(*updates))["series"]
    assert series[0]["values"] == [pytest.approx(norm)]


def test_a_gradient_that_is_clipped_by_the_norm_of_all_is_that_of_the_nearest_variable() -> None:
    """So it is where the norm is shown as well, and where nothing reads the gradient with respect to the data."""

    def trained(name: str, slope: float) -> list[Op]:
        return [
            op(name, "VarHandleOp"),
            op(f"{name}/read", "ReadVariableOp", name, value=np.array([[1.0], [slope]])),
            op(f"{name}/MatMul", "MatMul", "x", f"{name}/read", value=np.ones((1, 1))),
        ]

    def updated(name: str, slope: float) -> list[Op]:
        gradient = f"gradient_tape/{name}_gradient"
        return [
            op(gradient, "MatMul", "x", f"{name}/MatMul", value=np.array([[0.0], [slope]])),
            op(f"{name}/square", "Square", gradient, value=np.ones((2, 1))),
            op(f"{name}/clipped", "Mul", gradient, "norm", value=np.ones((2, 1))),
            op(f"{name}/largest", "Max", f"{name}/clipped", value=np.ones(())),
            op(f"{name}/assign", "AssignSubVariableOp", name, f"{name}/clipped"),
            op(f"{name}/after_update", "UpdatedVariable", name, value=np.array([[1.0], [0.0]])),
        ]

    run = made_run(
        op("x", "Placeholder", value=np.ones((1, 2))),
        *trained("first", 2.0),
        *trained("second", 3.0),
        op("gradient_tape/data", "Neg", "first/MatMul", value=np.ones((1, 1))),
        *updated("first", 2.0),
        *updated("second", 3.0),
        op("norm", "AddN", "first/square", "second/square", value=np.ones((2, 1))),
    )
    series = json_of("trends --of gradient", RunEnd(run))["series"]
    assert {(one["name"], *one["values"]) for one in series} == {("first", 2.0), ("second", 3.0)}


_MOMENTS = "min", "max", "mean", "std"


class _Numbers(PartOfStore):
    """A store that kept statistics and no values, some of them without the `lacking` ones."""

    def __init__(self, store: TensorStore, lacking: frozenset[str]) -> None:
        super().__init__(store, range(len(store)))
        self._told = [summary_of(store, row) for row in range(len(store))]
        self._lacking = lacking

    def value(self, index: int) -> NoValue:
        return gone("Values were not recorded.")

    def summary(self, index: int) -> Summary | None:
        told = self._told[index]
        if told is None:
            return None
        forgotten: dict[str, Any] = {name: None if name in _MOMENTS else 0 for name in self._lacking}
        return dataclasses.replace(told, unknown=self._lacking, **forgotten)


def _without_values(*lacking: str) -> RunEnd:
    stop = trained_steps()
    whole = (*stop.earlier, stop.run)
    runs = [dataclasses.replace(run, tensors=_Numbers(run.tensors, frozenset(lacking))) for run in whole]
    return RunEnd(runs[-1], stop.hit, runs[:-1])


def test_gradients_that_an_optimizer_hands_on_together_are_those_of_their_variables() -> None:
    """A blind test: those of plain variables, in no layer, stood apart from them, under names of their ops."""
    ops: list[Op] = [op("x", "Placeholder", value=np.ones(2))]
    for at in (1, 2):
        ops += [
            op(f"W{at}", "VarHandleOp"), op(f"read{at}", "ReadVariableOp", f"W{at}", value=np.ones(2)),
            op(f"Mul_{at}", "Mul", "x", f"read{at}", value=np.ones(2)),
            op(f"gradient_tape/Mul_{at}", "Mul", f"Mul_{at}", "x", value=np.array([3.0 * at, 4.0 * at])),
        ]  # fmt: skip
    gradients = "gradient_tape/Mul_1", "gradient_tape/Mul_2"
    ops.append(op("sgd/IdentityN", "IdentityN", *gradients, value=np.array([3.0, 4.0])))
    for at in (1, 2):
        ops += [
            op(f"sgd/Mul_{at}", "Mul", f"sgd/IdentityN:{at - 1}", "x", value=np.ones(2)),
            op(f"sgd/update{at}", "AssignSubVariableOp", f"W{at}", f"sgd/Mul_{at}"),
            op(f"W{at}/after_update", "UpdatedVariable", f"W{at}", value=np.zeros(2)),
        ]  # fmt: skip
    series = json_of("trends", RunEnd(made_run(*ops)))["series"]
    told = {(one["name"], one["quantity"]): one["values"] for one in series}
    assert {name for name, _ in told} == {"W1", "W2"}
    assert (told["W1", "gradient"], told["W2", "gradient"]) == ([5.0], [10.0])


class _Variables:
    """The variables of a run, of which some are known not to be trained."""

    def __init__(self, *fixed: str) -> None:
        self.trainable = dict.fromkeys(fixed, False)

    def initialized(self, names: Collection[str]) -> Mapping[str, bool]:
        return {}


def _read(variable: str, before: float, after: float) -> list[Op]:
    """A `variable` that is read in the scope of its layer, and its update by `sgd/{variable}_scaled`."""
    layer, own = variable.rsplit("/", 1)
    return [
        op(variable, "VarHandleOp"),
        op(f"{layer}/{own}_read", "ReadVariableOp", variable, value=np.array([before])),
        op(f"{layer}/{own}_used", "Neg", f"{layer}/{own}_read", value=np.array([-before])),
        op(f"sgd/{own}", "AssignSubVariableOp", variable, f"sgd/{own}_scaled"),
        op(f"{variable}/after_update", "UpdatedVariable", variable, value=np.array([after])),
    ]


def test_a_gradient_in_a_scope_within_a_layer_is_that_of_the_layer() -> None:
    """A blind test: weights of a batch normalization were missing, whose gradients are in a scope of their own."""
    run = made_run(
        *_read("norm/gamma", 3.0, 2.0),
        *_read("norm/beta", 4.0, 4.0),
        *_read("norm/moving_mean", 7.0, 8.0),
        op("norm/batchnorm/mul", "Mul", "norm/gamma_read", "norm/beta_read", value=np.ones(1)),
        op("gradient_tape/norm/batchnorm/add/Sum", "Sum", "norm/batchnorm/mul", value=np.array([6.0])),
        op("gradient_tape/norm/batchnorm/mul", "Mul", "gradient_tape/norm/batchnorm/add/Sum", value=np.array([8.0])),
        op("sgd/beta_scaled", "Mul", "gradient_tape/norm/batchnorm/add/Sum", value=np.ones(1)),
        op("sgd/gamma_scaled", "Mul", "gradient_tape/norm/batchnorm/mul", value=np.ones(1)),
    )
    run = dataclasses.replace(run, variables=_Variables("norm/moving_mean"))
    series = json_of("trends", RunEnd(run))["series"]
    assert {(one["name"], one["quantity"], *one["values"]) for one in series} == {
        ("norm", "gradient", 10.0), ("norm", "weight", 5.0), ("norm", "update", 1.0),
    }  # fmt: skip


def test_a_copy_of_a_mirrored_variable_in_no_layer_keeps_the_name_of_the_variable() -> None:
    """A blind test: "replica_1" was a layer."""
    run = made_run(
        op("x", "Placeholder", value=np.ones(2)),
        op("W/replica_1", "VarHandleOp"),
        op("replica_1/read", "ReadVariableOp", "W/replica_1", value=np.array([3.0, 4.0])),
        op("replica_1/Mul", "Mul", "x", "replica_1/read", value=np.ones(2)),
        op("gradient_tape/replica_1/Mul", "Mul", "replica_1/Mul", "x", value=np.array([0.3, 0.4])),
        op("sgd/update_1/Mul", "Mul", "gradient_tape/replica_1/Mul", "x", value=np.ones(2)),
        op("sgd/update_1/Assign", "AssignSubVariableOp", "W/replica_1", "sgd/update_1/Mul"),
        op("W/replica_1/after_update", "UpdatedVariable", "W/replica_1", value=np.array([3.0, 3.0])),
    )
    series = json_of("trends", RunEnd(run))["series"]
    assert {(one["name"], one["quantity"], *one["values"]) for one in series} == {
        ("replica_1/W", "gradient", 0.5), ("replica_1/W", "weight", 5.0), ("replica_1/W", "update", 1.0),
    }  # fmt: skip


def test_what_other_gradients_are_made_of_is_none_of_a_variable() -> None:
    """A blind test: with tf.recompute_grad the gradient of what it computes once more was a layer of its own."""
    run = made_run(
        op("x", "Placeholder", value=np.ones(2)),
        op("W", "VarHandleOp"),
        op("read", "ReadVariableOp", "W", value=np.array([3.0, 4.0])),
        op("Mul", "Mul", "x", "read", value=np.ones(2)),
        op("gradient_tape/AddN", "AddN", "Mul", value=np.array([6.0, 8.0])),
        op("IdentityN", "IdentityN", "gradient_tape/AddN", value=np.array([6.0, 8.0])),
        op("Sin", "Sin", "IdentityN", value=np.ones(2)),
        op("gradient_tape/Mul", "Mul", "Sin", "x", value=np.array([0.3, 0.4])),
        op("sgd/Assign", "AssignSubVariableOp", "W", "gradient_tape/Mul"),
        op("W/after_update", "UpdatedVariable", "W", value=np.array([3.0, 3.0])),
    )
    series = json_of("trends", RunEnd(run))["series"]
    assert {(one["name"], one["quantity"], *one["values"]) for one in series} == {
        ("W", "gradient", 0.5), ("W", "weight", 5.0), ("W", "update", 1.0),
    }  # fmt: skip


def test_norms_are_made_of_recorded_statistics() -> None:
    found = json_of("trends", _without_values())
    expected = {one["quantity"]: one["values"] for one in json_of("trends", trained_steps())["series"]}
    del expected["update"]  # a difference takes values
    assert {one["quantity"]: one["values"] for one in found["series"]} == {
        quantity: [value if isinstance(value, str) else pytest.approx(value) for value in values]
        for quantity, values in expected.items()
    }
    assert found["untold"] == 0


def test_gradients_without_values_are_told() -> None:
    found = json_of("trends --of gradient", _without_values(*_MOMENTS))  # as the mode FULL_HEALTH counts
    assert [(one["steps"], one["values"]) for one in found["series"]] == [([8], ["nan"])], "a NaN was counted"
    assert found["untold"] == 2
    shown = text_of("trends", _without_values(*_MOMENTS, "nan", "pos_inf", "neg_inf", "zero"))
    assert "Of 3 gradients there are neither values nor mean and std" in shown
    assert "Nothing in these runs is a gradient" not in shown


def test_a_run_without_training_says_so() -> None:
    run = made_run(op("a", "Const", value=1.0))
    assert json_of("trends", run)["series"] == []
    assert "Nothing in these runs is a gradient" in text_of("trends", run)


def test_a_row_has_its_curve_as_a_preview() -> None:
    assert "gradient of dense" in text_of("preview trends dense --of gradient", trained_steps())
    screen = Driven(trained_steps(), opening="trends", size=(160, 40), registry=standard_registry())
    assert "gradient of dense" in screen.text
    assert "log scale" in screen.text


def test_on_a_narrow_screen_the_curve_stays_longer_than_the_first_number() -> None:
    rows = [line.text for line in Prompt(trained_steps()).document("trends").lines(64)]
    head = next(row for row in rows if row.startswith("Layer"))
    assert "First" not in head and "Last / first" in head
    assert any(sign in "\n".join(rows) for sign in "▁▂▃▄▅▆▇█")


def test_a_recording_tells_how_many_runs_are_of_other_calls() -> None:
    runs = [*trained_steps().earlier, trained_steps().run]
    prompt = Prompt(Opened("runs", runs))
    prompt.run("runs 1")
    left_out = "left out: trends -a"
    assert left_out in prompt.show("trends")
    assert left_out not in prompt.show("trends -a")
    assert "left out: history dense/kernel -a" in prompt.show("history dense/kernel")
    assert left_out not in text_of("trends", trained_steps()), "at a stop those before it are kept for it"
