"""What was held for a run that is made again stands behind what it was made of, and all else as it stood."""

from __future__ import annotations

import random

from support.made_run import made_run, op

from tfdbg_cli.analysis.graph.nodes.order import behind_inputs
from tfdbg_cli.model.runs import Run


def _order(run: Run, *held: str) -> list[str]:
    store = behind_inputs(run.tensors, run.graph, held)
    return [store[row].node for row in range(len(store))]


def _exchange(*first: str) -> Run:
    """Two gradients that are exchanged, and a sum of what that gives; `first` come before all other tensors."""
    ops = (
        op("x", "Placeholder", value=[1.0]), op("log", "Log", "x", value=[0.0]),
        op("slope", "Reciprocal", "x", value=[1.0]), op("given", "Identity", "slope", value=[1.0]),
        op("key", "Const", value=1.0), op("exchanged", "CollectiveReduceV2", "given", "key", value=[2.0]),
        op("sum", "Sum", "exchanged", value=2.0), op("later", "Neg", "log", value=[0.0]),
    )  # fmt: skip
    return made_run(*ops, order=[*first, *(one.name for one in ops if one.name not in first)], times=False)


def test_it_comes_right_behind_what_it_reads() -> None:
    run = _exchange("x", "exchanged")
    assert _order(run, "exchanged") == ["x", "log", "slope", "given", "key", "exchanged", "sum", "later"]


def test_what_reads_it_comes_behind_it() -> None:
    run = _exchange("x", "exchanged", "sum")
    assert _order(run, "exchanged") == ["x", "slope", "given", "key", "exchanged", "sum", "log", "later"]


def test_an_order_that_is_right_stays_the_same_store() -> None:
    run = _exchange()
    assert behind_inputs(run.tensors, run.graph, ["exchanged"]) is run.tensors
    assert behind_inputs(run.tensors, run.graph, ["unheard"]) is run.tensors


def test_one_that_reads_another() -> None:
    run = made_run(
        op("x", "Placeholder", value=1.0), op("y", "Neg", "x", value=-1.0),
        op("a", "CollectiveReduceV2", "y", value=1.0), op("b", "CollectiveReduceV2", "a", value=1.0),
        op("z", "Neg", "x", value=-1.0),
        order=["x", "b", "a", "y", "z"], times=False,
    )  # fmt: skip
    assert _order(run, "a", "b") == ["x", "y", "a", "b", "z"]


def test_through_ops_that_show_nothing() -> None:
    run = made_run(
        op("x", "Placeholder", value=1.0), op("y", "Neg", "x", value=-1.0), op("packed", "Identity", "y"),
        op("a", "CollectiveReduceV2", "packed", value=1.0), op("z", "Neg", "x", value=-1.0),
        order=["x", "a", "y", "z"], times=False,
    )  # fmt: skip
    assert _order(run, "a") == ["x", "y", "a", "z"]


def test_the_turns_of_a_loop_stay_together() -> None:
    run = made_run(
        op("x", "Placeholder", value=1.0), op("while/body/add", "AddV2", "x", value=[1.0, 2.0]),
        op("while", "While", "x", "while/body/add", value=2.0), op("a", "CollectiveReduceV2", "while", value=2.0),
        op("z", "Neg", "a", value=-2.0),
        order=["x", "a", "while/body/add", "while", "z"], times=False,
    )  # fmt: skip
    assert _order(run, "a") == ["x", "while/body/add", "while", "a", "z"]


def test_in_any_graph_none_comes_before_its_inputs() -> None:
    for seed in range(200):
        draw = random.Random(seed)
        ops = [op("n0", "Placeholder", value=1.0)]
        for number in range(1, 15):
            read = draw.sample(range(number), min(number, draw.randint(1, 3)))
            ops.append(op(f"n{number}", "AddN", *(f"n{one}" for one in read), value=1.0))
        held = [one.name for one in draw.sample(ops[1:], 3)]
        rest = [one.name for one in ops if one.name not in held]
        run = made_run(*ops, order=[*held, *rest], times=False)
        order = _order(run, *held)
        assert sorted(order) == sorted(one.name for one in ops)
        for node in run.graph:
            assert all(order.index(need) < order.index(node.name) for need in node.needs), seed
