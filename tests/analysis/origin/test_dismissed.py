"""What a person ignores is no origin, nor is what is bad because of it alone: no TensorFlow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.made_run import INF, NAN, Op, made_run, op

from tfdbg_cli.analysis.origin.dismissed import Dismissed, dismissed_in
from tfdbg_cli.analysis.origin.ignoring import ignored_cause, ignored_place
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.ignored import IgnoredBy
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame

X = op("x", "Placeholder", value=[1.0, 0.0])
LOG = op("log", "Log", "x", value=[0.0, -INF])
TWICE = op("twice", "Mul", "log", value=[0.0, -INF])
ROOT = op("root", "Sqrt", "x", value=[1.0, NAN])


def _origin(run: Run, *nodes: str, causes: frozenset[str] = frozenset()) -> str | None:
    found = OriginSearch(run, dismissed=Dismissed(frozenset(nodes), causes)).first()
    return None if found is None else str(found.name)


def test_an_ignored_node_and_what_it_spoils_are_passed_over() -> None:
    run = made_run(X, LOG, TWICE, op("y", "Add", "twice", "x", value=[1.0, -INF]))
    assert _origin(run) == "log:0"
    assert _origin(run, "log") is None
    assert _origin(run, "twice") == "log:0", "what it was made of is not fine"


def test_another_fault_is_found_all_the_same() -> None:
    both = op("y", "Add", "twice", "root", value=[1.0, NAN])
    assert _origin(made_run(X, LOG, TWICE, ROOT, both), "log") == "root:0"
    run = made_run(X, LOG, ROOT, both)
    bad = OriginSearch(run, dismissed=Dismissed(frozenset({"log"})))
    assert [run.tensors[row].node for row in bad.bad_rows()] == ["root", "y"], "of two sources one is not fine"


@pytest.mark.parametrize(
    ("held", "origin"), [(None, None), (frozenset({"log", "y"}), None), (frozenset({"log"}), "y:0")]
)
def test_nan_made_of_an_ignored_infinity_is_fine_where_it_was_seen_when_it_was_said(held, origin) -> None:  # type: ignore[no-untyped-def]
    run = made_run(X, LOG, op("y", "Mul", "log", "x", value=[0.0, NAN]))
    found = OriginSearch(run, dismissed=Dismissed(frozenset({"log"}), held=held)).first()
    assert (None if found is None else str(found.name)) == origin


def test_a_feed_can_be_ignored() -> None:
    run = made_run(op("x", "Placeholder"), op("y", "Neg", "x", value=[-1.0, NAN]), feeds={"x:0": [1.0, NAN]})
    assert _origin(run) == "x:0"
    assert _origin(run, "x") is None


def test_a_cause_is_the_same_one_at_other_nodes() -> None:
    later = op("later", "Log", "x", value=[0.0, -INF])
    run = made_run(X, LOG, later, ROOT)
    cause = OriginSearch(run).first()
    assert cause is not None
    place = ignored_cause(run, cause.cause, Dismissed())
    assert place.named == ("log", "later") and place.by is IgnoredBy.CAUSE
    assert "Log of 0" in place.title
    assert _origin(run, causes=frozenset({place.name})) == "root:0"


def _placed(*nodes: Op, fetches: tuple[str, ...] = ("y:0",)) -> Run:
    run = made_run(*nodes)
    return replace(run, call=replace(run.call, fetches=fetches, kind=RunKind.FUNCTION, function="step"))


def test_what_comes_out_is_left_out_only_where_it_is_named() -> None:
    run = _placed(X, LOG, TWICE, op("y", "Neg", "twice", value=[0.0, INF]))
    place = ignored_place(run, IgnoredBy.NODE, "log", ["log"])
    assert place.nodes == ("log", "twice") and place.held == ("log", "twice", "y")
    assert (place.function, place.holds, place.op_type) == ("step", "-inf", "Log")
    assert ignored_place(run, IgnoredBy.NODE, "y", ["y"]).nodes == ("y",)
    assert ignored_place(_placed(X, fetches=()), IgnoredBy.NODE, "x", ["x"]).holds == "", "nothing is bad there"


def test_places_belong_to_their_function_and_in_eager_code_to_their_line() -> None:
    run = _placed(X, LOG)
    place = ignored_place(run, IgnoredBy.NODE, "log", ["log"])
    assert dismissed_in(run, [place]).nodes == {"log"}
    other = replace(run, call=replace(run.call, function="other"))
    assert not dismissed_in(other, [place])
    frames = {"Log_3": (Frame("/x.py", 4, "f", ""),), "Log_4": (Frame("/x.py", 5, "f", ""),)}
    eager = made_run(X, op("Log_3", "Log", "x", value=[0.0, -INF]), op("Log_4", "Log", "x", value=[0.0, -INF]))
    eager = replace(eager, call=replace(eager.call, kind=RunKind.EAGER, function="turn 3"), tracebacks=frames)
    at_line = replace(place, function="turn 1", file="/x.py", line=4)
    assert dismissed_in(eager, [at_line]).nodes == {"Log_3"}
