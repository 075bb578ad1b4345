"""Edges of a graph, with transfers between devices seen through."""

from __future__ import annotations

import gc
import weakref

from support.made_run import CPU, OTHER, made_graph, op

from tfdbg_cli.analysis.graph.nodes.neighbours import neighbours_of
from tfdbg_cli.model.graph import Graph

_KEY = {"tensor_name": "edge_5_a", "send_device": CPU, "recv_device": OTHER}


def _two_devices() -> Graph:
    return made_graph(
        op("a", "Add"),
        op("a/_0", "_Send", "a", **_KEY),
        op("a/_1", "_Recv", device=OTHER, **_KEY),
        op("b", "Neg", "a/_1", device=OTHER, control=("a/_1",)),
        op("b/ret", "_Retval", "b", device=OTHER),
    )


def test_send_and_receive_are_seen_through_to_the_producer() -> None:
    graph = _two_devices()
    (edge,) = neighbours_of(graph).inputs(graph.node("b"))
    assert (str(edge.tensor), edge.node, edge.moved) == ("a:0", graph.node("a"), True)


def test_send_and_receive_are_seen_through_to_the_reader() -> None:
    graph = _two_devices()
    (edge,) = neighbours_of(graph).outputs(graph.node("a"))
    assert (str(edge.tensor), edge.node, edge.moved) == ("a:0", graph.node("b"), True)


def test_a_return_node_is_no_recipient() -> None:
    graph = _two_devices()
    assert neighbours_of(graph).outputs(graph.node("b")) == []


def test_a_control_edge_from_a_receive_is_hidden() -> None:
    graph = _two_devices()
    assert neighbours_of(graph).control_inputs(graph.node("b")) == []


def test_a_receive_whose_sender_is_elsewhere_stays_itself() -> None:
    graph = made_graph(op("r", "_Recv", **_KEY), op("b", "Neg", "r"))
    (edge,) = neighbours_of(graph).inputs(graph.node("b"))
    assert (str(edge.tensor), edge.moved) == ("r:0", False)
    assert neighbours_of(graph).inputs(graph.node("r")) == []


def test_nodes_of_one_name_on_two_devices_have_their_own_edges() -> None:
    graph = made_graph(
        op("n", "Add"), op("n", "Sub", device=OTHER), op("left", "Neg", "n"), op("right", "Neg", "n", device=OTHER)
    )
    edges = neighbours_of(graph)
    assert [e.node.name for e in edges.outputs(graph.node("n", CPU)) if e.node] == ["left"]
    assert [e.node.name for e in edges.outputs(graph.node("n", OTHER)) if e.node] == ["right"]


def test_an_input_that_the_graph_does_not_hold_is_named() -> None:
    graph = made_graph(op("b", "Neg", "gone:1"))
    (edge,) = neighbours_of(graph).inputs(graph.node("b"))
    assert (str(edge.tensor), edge.node) == ("gone:1", None)


def test_edges_do_not_keep_their_graph_alive() -> None:
    graph = _two_devices()
    neighbours_of(graph).outputs(graph.node("a"))
    alive = weakref.ref(graph)
    del graph
    gc.collect()
    assert alive() is None
