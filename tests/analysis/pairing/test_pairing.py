"""Which node of one run is which of another, where names are the same, partly the same, or all different."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.made_run import made_graph, made_run, op
from support.run_maker import RunMaker
from support.work import counted_calls

from tfdbg_cli.analysis.difference.comparison import compared_runs
from tfdbg_cli.analysis.pairing.renames import Renames, parsed_renames
from tfdbg_cli.analysis.pairing.tensor_pairs import TensorPairs, paired_tensors
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.updates import UPDATED_VARIABLE

RANDOM = np.random.RandomState(0)
SQUARE = RANDOM.rand(4, 4).astype(np.float32)


def _layers(names: list[str], *, extra: int | None = None) -> Run:
    """Layers of one shape in a row, each of them MatMul, BiasAdd and Relu; behind the layer `extra` one op more."""
    ops = [op("x", "Placeholder", value=SQUARE)]
    flow = "x"
    for at, name in enumerate(names):
        weight, bias = SQUARE + at, SQUARE[0] - at
        ops += [
            op(f"{name}/kernel", "ReadVariableOp", value=weight),
            op(f"{name}/MatMul", "MatMul", flow, f"{name}/kernel", value=SQUARE * at),
            op(f"{name}/bias", "ReadVariableOp", value=bias),
            op(f"{name}/BiasAdd", "BiasAdd", f"{name}/MatMul", f"{name}/bias", value=SQUARE * at + 1),
            op(f"{name}/Relu", "Relu", f"{name}/BiasAdd", value=SQUARE * at + 1),
        ]
        flow = f"{name}/Relu"
        if at == extra:
            ops.append(op(f"{name}/Tanh", "Tanh", flow, value=SQUARE * at))
            flow = f"{name}/Tanh"
    return made_run(*ops, op("out", "Softmax", flow, value=SQUARE))


def _names(first: Run, second: Run, renames: Renames | None = None) -> dict[str, str]:
    return dict(paired_tensors(first, second, renames or Renames()).nodes)


def _by_layer(pairs: dict[str, str]) -> set[tuple[str, str]]:
    return {(one.split("/")[0], two.split("/")[0]) for one, two in pairs.items() if "/" in one}


def test_equal_names_are_pairs() -> None:
    run = _layers(["a", "b"])
    pairs = _names(run, _layers(["a", "b"]))
    assert all(one == two for one, two in pairs.items()) and len(pairs) == 12


def test_counters_in_names_that_moved_do_not_mislead() -> None:
    first, second = _layers(["dense", "dense_1", "dense_2"]), _layers(["dense_1", "dense_2", "dense_3"])
    pairs = _names(first, second)
    assert _by_layer(pairs) == {("dense", "dense_1"), ("dense_1", "dense_2"), ("dense_2", "dense_3")}
    assert len(pairs) == 17


def test_reads_of_variables_go_by_these_where_a_cast_more_has_renumbered_them() -> None:
    """Keras casts the batch first under mixed precision, and counts all casts of the layer from there."""

    def run(first: int) -> Run:
        reads = [
            op(f"norm/Cast_{at}/Read", "ReadVariableOp", name, value=SQUARE + at)
            for at, name in enumerate(("mean", "variance", "gamma"), start=first)
        ]
        handles = [Node(name, "VarHandleOp", "") for name in ("mean", "variance", "gamma")]
        made = made_run(*reads, op("out", "AddN", *(f"norm/Cast_{first + at}/Read" for at in range(3)), value=SQUARE))
        return replace(made, graph=Graph([*handles, *made.graph]))

    pairs = _names(run(0), run(1))
    assert {one: two for one, two in pairs.items() if "Read" in one} == {
        f"norm/Cast_{at}/Read": f"norm/Cast_{at + 1}/Read" for at in range(3)
    }


@pytest.mark.parametrize("extra", [0, 1, 2])
def test_layers_with_other_names_are_pairs_though_one_side_has_an_op_more(extra: int) -> None:
    pairs = _names(_layers(["a", "b", "c"]), _layers(["k", "l", "m"], extra=extra))
    assert _by_layer(pairs) == {("a", "k"), ("b", "l"), ("c", "m")}
    assert len(pairs) == 17 and all(one.rpartition("/")[2] == two.rpartition("/")[2] for one, two in pairs.items())


def test_towers_alike_are_told_apart_by_what_they_hold_then_by_their_order() -> None:
    def towers(names: list[str], weights: list[float]) -> Run:
        ops = [op("x", "Placeholder", value=SQUARE)]
        for name, weight in zip(names, weights, strict=True):
            ops.append(op(f"{name}/kernel", "ReadVariableOp", value=SQUARE + weight))
            ops.append(op(f"{name}/MatMul", "MatMul", "x", f"{name}/kernel", value=SQUARE * weight))
        return made_run(*ops, op("sum", "AddN", *(f"{name}/MatMul" for name in names), value=SQUARE))

    assert _by_layer(_names(towers(["a", "b"], [1, 2]), towers(["k", "l"], [1, 2]))) == {("a", "k"), ("b", "l")}

    def parallel(names: list[str], weights: list[float]) -> Run:
        ops = [op("x", "Placeholder", value=SQUARE)]
        for name, weight in zip(names, weights, strict=True):
            ops.append(op(f"{name}/Exp", "Exp", "x", value=SQUARE * weight))
        return made_run(*ops)

    swapped = _names(parallel(["a", "b"], [1, 2]), parallel(["k", "l"], [2, 1]))
    assert (swapped["a/Exp"], swapped["b/Exp"]) == ("l/Exp", "k/Exp")
    in_order = _names(parallel(["a", "b"], [1, 2]), parallel(["k", "l"], [3, 4]))
    assert (in_order["a/Exp"], in_order["b/Exp"]) == ("k/Exp", "l/Exp")


def test_the_map_comes_first() -> None:
    first, second = _layers(["a", "b"]), _layers(["b", "a"])
    assert _by_layer(_names(first, second)) == {("a", "b"), ("b", "a")}
    swapped = parsed_renames("a/(.*) a/\\1  # as they are called\n\nb/kernel b/kernel\nnobody nothing\n")
    pairs = paired_tensors(first, second, swapped)
    assert ("a/MatMul", "a/MatMul") in pairs.nodes and ("b/kernel", "b/kernel") in pairs.nodes
    assert list(pairs.unused_lines) == [4]


@pytest.mark.parametrize("text", ["a", "a b c", "a( b", "a b\\1", "ok fine\na b\\g<x>"])
def test_a_map_that_is_none_names_its_line(text: str) -> None:
    with pytest.raises(TfdbgError) as caught:
        parsed_renames(text)
    assert f"Line {len(text.splitlines())} of the map" in caught.value.message


def test_the_words_of_a_line_of_a_map_are_counted() -> None:
    with pytest.raises(TfdbgError) as caught:
        parsed_renames("a")
    assert caught.value.message == "Line 1 of the map has 1 word."


def test_copies_and_casts_more_in_one_are_no_difference() -> None:
    plain = made_run(op("x", "Placeholder", value=SQUARE), op("y", "Exp", "x", value=SQUARE))
    copied = made_run(
        op("x", "Placeholder", value=SQUARE), op("c", "Cast", "x", value=SQUARE),
        op("i", "Identity", "c", value=SQUARE), op("z", "Exp", "i", value=SQUARE),
    )  # fmt: skip
    pairs = paired_tensors(plain, copied, Renames())
    assert dict(pairs.nodes) == {"x": "x", "y": "z"} and not pairs.only_first and not pairs.only_second


def test_turns_of_a_loop_and_tensors_without_a_graph() -> None:
    one = replace(made_run(op("step/Add", "Add", values=(1.0, 2.0, 3.0))), graph=Graph())
    two = replace(made_run(op("step/Add", "Add", values=(1.0, 2.0))), graph=Graph())
    pairs = paired_tensors(one, two, Renames())
    assert (pairs.rows, pairs.only_first, pairs.only_second) == ([(0, 0), (1, 1)], [2], [])


def test_a_gpu_and_a_cpu() -> None:
    one = made_run(op("x", "Exp", values=(1.0, 2.0), device="/device:GPU:0"))
    two = made_run(op("x", "Exp", values=(1.0, 2.0), device="/device:CPU:0"))
    assert paired_tensors(one, two, Renames()).rows == [(0, 0), (1, 1)]


def _renamed(run: Run, order: int) -> Run:
    """The run with all its nodes called otherwise."""
    known = {
        name: f"n{order}_{i}" for i, name in enumerate(dict.fromkeys((*run.graph.names(), *run.tensors.nodes())))
    }

    def name(tensor: TensorName) -> TensorName:
        return TensorName(known.get(tensor.node, tensor.node), tensor.slot)

    nodes = [
        Node(known[n.name], n.op_type, n.device, tuple(map(name, n.inputs)),
             tuple(known.get(c, c) for c in n.control_inputs), n.attributes)
        for n in run.graph
    ]  # fmt: skip
    tensors = [replace(run.tensors[i], name=name(run.tensors[i].name)) for i in range(len(run.tensors))]
    values = [run.tensors.value(i) for i in range(len(run.tensors))]
    return replace(run, graph=Graph(nodes, run.graph.kind), tensors=MemoryTensorStore(tensors, values))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30))
def test_a_run_is_equal_to_itself(seed: int, nodes: int) -> None:
    run = RunMaker(seed).run(nodes)
    found = compared_runs(run, run)
    assert found.first is None and not found.differing
    assert all(one == two for one, two in found.pairs.nodes)
    assert not found.pairs.only_first and not found.pairs.only_second


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(0, 10_000))
def test_pairs_are_one_to_one_and_swapping_the_runs_swaps_them(seed: int, nodes: int, other: int) -> None:
    first, second = RunMaker(seed).run(nodes), _renamed(RunMaker(other).run(nodes), 1)
    there, back = paired_tensors(first, second, Renames()), paired_tensors(second, first, Renames())
    assert sorted(there.rows) == sorted((a, b) for b, a in back.rows)
    assert (there.only_first, there.only_second) == (back.only_second, back.only_first)
    for side in (0, 1):
        assert len({pair[side] for pair in there.rows}) == len(there.rows)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.randoms(use_true_random=False))
def test_other_names_for_all_nodes_change_nothing(count: int, pick) -> None:
    types = ("MatMul", "Exp", "Tanh", "Sub", "Square", "Sigmoid")
    ops = [op("n0", "Placeholder", value=SQUARE)]
    for i in range(1, count):  # a chain with branches: each place is told by what it reads
        reads = [f"n{i - 1}", *(f"n{pick.randrange(i)}" for _ in range(pick.randrange(2)))]
        ops.append(op(f"n{i}", pick.choice(types), *reads, value=SQUARE * i))
    run = made_run(*ops)
    found = compared_runs(run, _renamed(run, 2))
    assert found.first is None and found.same
    assert dict(found.pairs.nodes) == {f"n{i}": f"n2_{i}" for i in range(count)}


def _deep(layers: int) -> Run:
    """A graph of so many layers, of five nodes each, and no values."""
    names = [f"l{i}" for i in range(layers)]
    nodes = [Node("x", "Placeholder", "")]
    flow = "x"
    for name in names:
        nodes += [
            Node(f"{name}/kernel", "ReadVariableOp", ""),
            Node(f"{name}/MatMul", "MatMul", "", (TensorName(flow, 0), TensorName(f"{name}/kernel", 0))),
            Node(f"{name}/bias", "ReadVariableOp", ""),
            Node(f"{name}/Add", "BiasAdd", "", (TensorName(f"{name}/MatMul", 0), TensorName(f"{name}/bias", 0))),
            Node(f"{name}/Relu", "Relu", "", (TensorName(f"{name}/Add", 0),)),
        ]
        flow = f"{name}/Relu"
    return replace(made_run(op("x", "Placeholder", value=1.0)), graph=Graph(nodes))


def _pairing(run: Run, other: Run) -> tuple[TensorPairs, int]:
    """The pairs, and how many calls it takes to find them."""
    with counted_calls() as work:
        found = paired_tensors(run, other, Renames())
    return found, work.calls


def test_pairing_takes_work_as_there_are_nodes() -> None:
    run, deeper = _deep(200), _deep(2000)
    found, few = _pairing(run, _renamed(run, 3))
    more, many = _pairing(deeper, _renamed(deeper, 3))
    assert (len(found.nodes), len(more.nodes)) == (1001, 10_001)
    assert many < 10.5 * few and many < 300 * len(more.nodes)


def test_twenty_thousand_nodes_are_paired() -> None:
    run = _deep(4_000)
    assert len(paired_tensors(run, _renamed(run, 3), Renames()).nodes) == 20_001


def test_graphs_in_circles_end() -> None:
    ops = [op("a", "Merge", "b", "c"), op("b", "NextIteration", "c"), op("c", "Add", "a", "a", value=1.0)]
    run = replace(made_run(op("c", "Add", value=1.0)), graph=made_graph(*ops))
    assert compared_runs(run, _renamed(run, 4)).same


def _slots(order: list[str]) -> Run:
    """Slots of an optimizer, all of them 0, each read and multiplied alike, in some order."""
    ops = [op("rate", "Const", value=0.9)]
    for at, name in enumerate(order):
        ops += [
            op(name, "VarHandleOp"),
            op(f"ReadVariableOp_{at}", "ReadVariableOp", name, value=np.zeros(4)),
            op(f"Mul_{at}", "Mul", f"ReadVariableOp_{at}", "rate", value=np.zeros(4)),
        ]
    return made_run(*ops)


@pytest.mark.parametrize("order", [["gamma", "beta", "bias"], ["beta", "bias", "gamma"]])
def test_reads_of_variables_that_hold_the_same_go_by_what_these_are_called(order: list[str]) -> None:
    first, second = _slots(["bias", "gamma", "beta"]), _slots(order)
    pairs = _names(first, second)
    for one, two in pairs.items():
        if one.startswith("ReadVariableOp"):
            assert first.graph.node(one).inputs[0].node == second.graph.node(two).inputs[0].node
    assert len([one for one in pairs if one.startswith("Mul")]) == 3
    said = _names(first, second, parsed_renames("ReadVariableOp_0 ReadVariableOp_0"))
    assert said["ReadVariableOp_0"] == "ReadVariableOp_0", "what the user says holds all the same"


def test_names_that_numbers_tell_apart_say_nothing_of_variables() -> None:
    """Which of two layers is `dense_1` depends on which was made first."""
    pairs = _names(_slots(["dense/kernel", "dense_1/kernel"]), _slots(["dense_1/kernel", "dense/kernel"]))
    assert len([one for one in pairs if one.startswith("ReadVariableOp")]) == 2


def test_of_a_variable_that_eager_code_shows_after_each_update_the_last_is_compared() -> None:
    name, update = "v/after_update", UPDATED_VARIABLE
    first = made_run(op("v", "VarHandleOp"), op(name, update, "v", value=np.float32(4)))
    values = [np.float32(2), np.float32(3), np.float32(4)]
    tensors = [
        describe(TensorName(name, 0), value, device="", dtype="float32", op_type=update, execution=at)
        for at, value in enumerate(values)
    ]
    second = replace(first, tensors=MemoryTensorStore(tensors, values))
    assert list(paired_tensors(first, second, Renames()).rows) == [(0, 2)]
    assert compared_runs(first, second).first is None
