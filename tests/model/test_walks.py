"""Walks over graphs of any shape: all that can be reached, once, and in the order that is promised."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.model.walks import depth_first, nearest_first, needs_first, reached

_NODES = st.integers(0, 9)
GRAPHS = st.dictionaries(_NODES, st.lists(_NODES, max_size=4), max_size=10)
STARTS = st.lists(_NODES, max_size=4)


def _further(graph):
    return lambda node: graph.get(node, ())


def _distances(graph, starts):
    """How far each node is, by rounds over all edges until nothing changes."""
    far = dict.fromkeys(starts, 0)
    while True:
        found = dict(far)
        for node, others in graph.items():
            for other in others if node in far else ():
                found[other] = min(found.get(other, far[node] + 1), far[node] + 1)
        if found == far:
            return far
        far = found


def _told_deep(graph, nodes, told):
    """`nodes`, the last first, each followed by what it leads to, in a list without those that were told before."""
    for node in reversed(nodes):
        if node not in told:
            told.append(node)
            _told_deep(graph, graph.get(node, ()), told)
    return told


@given(GRAPHS, STARTS)
def test_everything_that_can_be_reached_is_told_once(graph, starts):
    expected = sorted(_distances(graph, starts))
    assert sorted(reached(starts, _further(graph))) == expected
    assert sorted(depth_first(starts, _further(graph))) == expected
    assert sorted(needs_first(starts, _further(graph))) == expected


@given(GRAPHS, STARTS)
def test_the_nearest_comes_first_with_its_distance(graph, starts):
    found = list(nearest_first(starts, _further(graph)))
    assert dict(found) == _distances(graph, starts)
    assert len(dict(found)) == len(found)
    assert [far for _, far in found] == sorted(far for _, far in found)


@given(GRAPHS, STARTS)
def test_all_behind_the_last_comes_before_the_others(graph, starts):
    assert list(depth_first(starts, _further(graph))) == _told_deep(graph, starts, [])


@given(GRAPHS, STARTS)
def test_what_is_needed_comes_first_unless_it_needs_its_reader(graph, starts):
    order = list(needs_first(starts, _further(graph)))
    place = {node: at for at, node in enumerate(order)}
    for node in order:
        for need in graph.get(node, ()):
            assert place[need] <= place[node] or node in _distances(graph, [need])


@given(GRAPHS, STARTS, st.integers(0, 5))
def test_no_more_are_told_than_are_wanted(graph, starts, most):
    everything = list(reached(starts, _further(graph)))
    assert list(reached(starts, _further(graph), most=most)) == everything[:most]
    deep = list(depth_first(starts, _further(graph)))
    assert list(depth_first(starts, _further(graph), most=most)) == deep[:most]
    nearest = list(nearest_first(starts, _further(graph)))
    assert list(nearest_first(starts, _further(graph), most=most)) == nearest[:most]


def test_the_order_of_the_starts_is_kept_where_nothing_is_needed():
    assert list(needs_first("cab", lambda _: ())) == ["c", "a", "b"]


def test_no_depth_is_too_deep():
    last = 100_000
    chain = list(needs_first([0], lambda node: [node + 1] if node < last else []))
    assert chain == list(range(last, -1, -1))


def test_what_leads_on_is_asked_when_the_next_is_wanted():
    asked = []
    walk = reached([0], lambda node: asked.append(node) or [node + 1])
    assert next(walk) == 0
    assert asked == []
    assert next(walk) == 1
    assert asked == [0]
