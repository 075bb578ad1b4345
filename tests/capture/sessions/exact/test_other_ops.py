"""Which ops of a plain run a watched one computes otherwise, told by the graphs that ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf import text_format

from tfdbg_cli.capture.sessions.exact.other_ops import other_ops
from tfdbg_cli.capture.sessions.graphs_that_ran import GraphsThatRan

pytestmark = pytest.mark.tf

RAN = """
node { name: "one" op: "Const" device: "CPU:0" attr { key: "value" value { f: 1.0 } } }
node { name: "same" op: "Identity" input: "one" }
node { name: "x" op: "_Arg" }
node { name: "sum" op: "AddV2" input: "x" input: "same" input: "^x" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "leaky" op: "LeakyRelu" input: "sum:0" attr { key: "alpha" value { f: 0.0 } } }
"""


def ran(change: Callable[[dict[str, Any]], object] = lambda nodes: None) -> GraphsThatRan:
    """The graphs of a run, after `change` of its nodes."""
    graphs = GraphsThatRan()
    graph = text_format.Parse(RAN, graphs.metadata.partition_graphs.add())
    change({node.name: node for node in graph.node})
    return graphs


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda nodes: None, ()),
        (lambda nodes: nodes["leaky"].attr["alpha"].__setattr__("f", -0.0), ("leaky",)),
        (lambda nodes: nodes["one"].attr["value"].__setattr__("f", 2.0), ("sum",)),
        (lambda nodes: nodes["same"].input.__setitem__(0, "x"), ("sum",)),
        (lambda nodes: nodes["same"].__setattr__("op", "Neg"), ("sum",)),
        (lambda nodes: nodes["sum"].__setattr__("device", "GPU:0"), ("sum",)),
        (lambda nodes: nodes["sum"].input.__setitem__(1, "one"), ()),  # the same past what only hands on
        (lambda nodes: nodes["sum"].input.pop(), ()),  # it waits for nothing
        (lambda nodes: nodes["sum"].attr["_class"].__setattr__("s", b"x"), ()),  # says nothing of what is computed
        (lambda nodes: nodes["leaky"].__setattr__("name", "else"), ("leaky",)),
    ],
    ids=["nothing", "a sign", "a constant", "what is handed on", "a negation between", "device", "no copy",
         "no wait", "a class", "no such op"],
)  # fmt: skip
def test_what_is_computed_otherwise_is_named(change, names) -> None:
    assert other_ops(ran(), ran(change)) == names


def test_an_op_of_which_no_input_is_there_is_told_by_its_texts() -> None:
    def without(nodes: dict[str, Any]) -> None:
        nodes["x"].name = "tfdbg/0"

    assert other_ops(ran(without), ran(without)) == ()
