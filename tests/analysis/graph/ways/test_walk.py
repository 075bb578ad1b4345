"""The outline of a neighbourhood."""

from __future__ import annotations

from support.made_run import Op, made_graph, op

from tfdbg_cli.analysis.graph.ways.walk import Direction, StepMark, walk


def _ladder(layers: int) -> list[Op]:
    """Layers of two nodes, each reading both of the layer before: 2 ** layers paths."""
    ops = [op("a0", "Add"), op("b0", "Add")]
    for i in range(1, layers):
        ops += [op(f"{side}{i}", "Add", f"a{i - 1}", f"b{i - 1}") for side in "ab"]
    return [*ops, op("top", "Add", f"a{layers - 1}", f"b{layers - 1}")]


def test_defect_dag_printed_as_an_exponential_tree() -> None:
    """TensorFlow's tfdbg: a DAG is printed as a tree with repeats. 60 diamonds have 2**60 paths, but 240 edges."""
    graph = made_graph(*_ladder(60))
    steps = walk(graph, graph.node("top"), Direction.INPUTS, depth=100)
    full = [step.name for step in steps if step.mark is StepMark.FIRST]
    assert len(steps) == 2 + 4 * 59
    assert sorted(full) == sorted(set(full)) and len(full) == 120


def test_steps_come_in_the_order_of_an_outline() -> None:
    graph = made_graph(op("x", "Placeholder"), op("n", "Neg", "x"), op("sum", "Add", "n", "x"))
    steps = walk(graph, graph.node("sum"), Direction.INPUTS, depth=9)
    assert [(s.depth, s.name, s.mark) for s in steps] == [
        (1, "n", StepMark.FIRST), (2, "x", StepMark.BELOW), (1, "x", StepMark.FIRST),
    ]  # fmt: skip


def test_a_node_is_told_where_it_is_nearest_so_that_the_depth_hides_nothing_near() -> None:
    """x is 1 away directly and 3 away through the chain: the chain must not use it up at the depth limit."""
    graph = made_graph(
        op("far", "Const"),
        op("x", "Neg", "far"),
        op("p", "Neg", "x"),
        op("q", "Neg", "p"),
        op("end", "Add", "q", "x"),
    )
    steps = walk(graph, graph.node("end"), Direction.INPUTS, depth=3)
    assert ("far", 2, StepMark.FIRST) in [(s.name, s.depth, s.mark) for s in steps]


def test_beyond_the_depth_is_marked() -> None:
    graph = made_graph(op("x", "Placeholder"), op("a", "Neg", "x"), op("b", "Neg", "a"), op("c", "Neg", "b"))
    steps = walk(graph, graph.node("c"), Direction.INPUTS, depth=2)
    assert [(s.name, s.mark) for s in steps] == [("b", StepMark.FIRST), ("a", StepMark.CUT)]
    assert [s.mark for s in walk(graph, graph.node("c"), Direction.INPUTS, depth=3)] == [StepMark.FIRST] * 3


def test_a_loop_ends() -> None:
    graph = made_graph(op("m", "Merge", "n"), op("n", "NextIteration", "m"))
    steps = walk(graph, graph.node("m"), Direction.INPUTS, depth=50)
    assert [(s.name, s.mark) for s in steps] == [("n", StepMark.FIRST), ("m", StepMark.ABOVE)]


def test_control_edges_on_demand() -> None:
    graph = made_graph(op("init", "NoOp"), op("a", "Add", control=("init",)))
    assert walk(graph, graph.node("a"), Direction.INPUTS, depth=1) == []
    (step,) = walk(graph, graph.node("a"), Direction.INPUTS, depth=1, control=True)
    assert (step.name, step.control) == ("init", True)
    (back,) = walk(graph, graph.node("init"), Direction.OUTPUTS, depth=1, control=True)
    assert (back.name, back.control) == ("a", True)


def test_an_input_read_twice_is_one_step() -> None:
    graph = made_graph(op("x", "Add"), op("sq", "Mul", "x", "x"))
    assert len(walk(graph, graph.node("sq"), Direction.INPUTS, depth=1)) == 1


def test_a_chain_of_many_thousand_nodes_needs_no_recursion() -> None:
    ops = [op("n0", "Const"), *(op(f"n{i}", "Neg", f"n{i - 1}") for i in range(1, 5000))]
    graph = made_graph(*ops)
    assert len(walk(graph, graph.node("n4999"), Direction.INPUTS, depth=10_000)) == 4999
