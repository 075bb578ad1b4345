"""Whoever follows a graph as far as it leads asks `model.walks`: no loop writes the walk by hand again.

Such a loop takes from a list that it adds to, and asks whether something is in a set that it adds to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from support.package_source import modules

WALKS = "tfdbg_cli.model.walks"
# Walks that need more than each node once.
OF_THEIR_OWN = {
    "tfdbg_cli.analysis.batch.alongside._forward": "carries the rows along, and tells where they end",
    "tfdbg_cli.analysis.batch.batch_roles._meets": "what was met so far says what else a reader reads",
    "tfdbg_cli.analysis.causes.intended._followed": "ends without an answer amid the readers of one tensor",
    "tfdbg_cli.analysis.causes.surroundings._grown": "bounded by the bytes that were read, too",
    "tfdbg_cli.analysis.graph.ways.chain._way": "keeps the way by which it came",
    "tfdbg_cli.analysis.graph.making.forward._tensors_read": "tells of each node who reads it",
    "tfdbg_cli.analysis.graph.flow.puts.puts_by_handle": "tells what is met in the order of the readers",
    "tfdbg_cli.analysis.graph.nodes.roles._take_back": "counts the readers that are left",
    "tfdbg_cli.analysis.graph.ways.walk.spread": "keeps the edges, and under which a node is told",
    "tfdbg_cli.analysis.layers.layers._updates": "comes back to a node until all its readers are settled",
    "tfdbg_cli.capture.what_if.slices.after": "asks of a node when it is met, and may refuse",
    "tfdbg_cli.debug_data.tracing.transitive_inputs": "tells the text by which a node is read first",
    "tfdbg_cli.debug_data.tracing.some_path": "keeps the way by which it came",
    "tfdbg_cli.formats.bundles.replay_graph.endless": "finds circles",
}

BY_HAND = """
def found(graph, start):
    waiting, met = [start], set()
    while waiting:
        for other in graph[waiting.pop()]:
            if other not in met:
                met.add(other)
                waiting.append(other)
    return met
"""
GROWING = """
def found(graph, start):
    met = {start: None}
    waiting = [start]
    for one in waiting:
        new = [other for other in graph[one] if other not in met]
        met.update(dict.fromkeys(new))
        waiting += new
    return met
"""
NO_WALK = """
def taken(words, flags):
    waiting, met = list(words), set()
    while waiting:
        word = waiting.pop(0)
        if word not in met:
            met.add(word)
"""


def _called(loop: ast.While | ast.For, *methods: str) -> set[str]:
    """What the methods are called of."""
    calls = (node.func for node in ast.walk(loop) if isinstance(node, ast.Call))
    return {ast.unparse(func.value) for func in calls if isinstance(func, ast.Attribute) and func.attr in methods}


def _is_walk(loop: ast.While | ast.For) -> bool:
    nodes = list(ast.walk(loop))
    taken = _called(loop, "pop", "popleft") | ({ast.unparse(loop.iter)} if isinstance(loop, ast.For) else set())
    longer = {ast.unparse(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
    longer |= _called(loop, "append", "extend", "appendleft")
    targets = (target for node in nodes if isinstance(node, ast.Assign) for target in node.targets)
    marked = {ast.unparse(target.value) for target in targets if isinstance(target, ast.Subscript)}
    marked |= _called(loop, "add", "update", "setdefault")
    compared = (node for node in nodes if isinstance(node, ast.Compare))
    asked = {ast.unparse(node.comparators[0]) for node in compared if isinstance(node.ops[0], ast.In | ast.NotIn)}
    return bool(taken & longer) and bool(marked & asked)


def _walks(tree: ast.AST) -> Iterator[str]:
    """The functions of a module with such a loop, by their names."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            loops = (node for node in ast.walk(function) if isinstance(node, ast.While | ast.For))
            if any(map(_is_walk, loops)):
                yield function.name


def test_walks_are_written_once():
    by_hand = {
        f"{module.name}.{name}" for module in modules() if module.name != WALKS for name in _walks(module.tree)
    }
    assert sorted(by_hand - OF_THEIR_OWN.keys()) == []
    assert sorted(OF_THEIR_OWN.keys() - by_hand) == [], "needless exceptions"


@pytest.mark.parametrize("source", [BY_HAND, GROWING])
def test_a_walk_by_hand_is_found(source):
    assert list(_walks(ast.parse(source))) == ["found"]


def test_a_list_that_is_only_emptied_is_no_walk():
    assert list(_walks(ast.parse(NO_WALK))) == []
