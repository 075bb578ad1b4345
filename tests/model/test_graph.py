import pytest
from support import sample_run

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName


def test_consumers_name_the_slot_they_read():
    graph = sample_run.graph()
    assert [(node.name, slot) for node, slot in graph.consumers("loss/Log")] == [("loss/mul", 0), ("half/Cast", 0)]
    assert [node.name for node in graph.control_consumers("init")] == ["loss/Mean"]
    assert graph.consumers("loss/Mean") == []


def test_an_input_read_twice_counts_once():
    x = TensorName("x", 0)
    graph = Graph([Node("x", "Placeholder", ""), Node("square", "Mul", "", (x, x))])
    assert [(n.name, s) for n, s in graph.consumers("x")] == [("square", 0)]


def test_one_name_on_two_devices_is_two_nodes():
    """tensorflow#7051: 'Duplicate node name' on several GPUs."""
    graph = Graph([Node("n/_0", "_Recv", "/device:CPU:0"), Node("n/_0", "_Send", "/device:CPU:1")])
    assert len(graph) == 2
    assert graph.node("n/_0", "/device:CPU:1").op_type == "_Send"
    assert graph.devices() == ["/device:CPU:0", "/device:CPU:1"]


def test_an_unknown_node_names_the_nearest_and_the_graph_searched():
    with pytest.raises(TfdbgError) as caught:
        sample_run.graph(GraphKind.PYTHON).node("loss/log")
    assert "Python graph" in caught.value.message
    assert "loss/Log" in caught.value.hint


def test_reverse_edges_are_made_in_steps_that_may_be_left_off() -> None:
    nodes = [Node("n0", "Const", "")] + [
        Node(f"n{i}", "Neg", "", (TensorName(f"n{i - 1}", 0),)) for i in range(1, 3000)
    ]
    graph = Graph(nodes)
    first = graph.index_in_steps()
    next(first)
    del first  # whoever asked went elsewhere
    steps = sum(1 for _ in graph.index_in_steps())
    assert 1 < steps < 20
    assert [node.name for node, _ in graph.consumers("n7")] == ["n8"]
    assert list(graph.index_in_steps()) == []
    alone = Graph(nodes)
    next(alone.index_in_steps())
    assert [node.name for node, _ in alone.consumers("n2998")] == ["n2999"], "whoever cannot wait does it all"
