"""A variable that a call of a function itself spoiled, and read again: the update is to blame, and no earlier run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.made_run import INF, op
from support.variable_runs import added, called, in_a_loop, read, read_after_its_update, shown

from tfdbg_cli.analysis.origin.dismissed import Dismissed
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.runs import Run


def found(run: Run) -> tuple[Origin, list[str]]:
    """The first origin, and the names of all."""
    search = OriginSearch(run)
    first = search.first()
    assert first is not None
    every = [run.tensors[place].name if isinstance(place, int) else place.name for place in OriginSearch(run).all()]
    return first, list(map(str, every))


def test_the_update_is_the_origin_of_what_is_read_behind_it() -> None:
    run = read_after_its_update()
    origin, every = found(run)
    assert (str(origin.name), origin.made_by, every) == ("w/after_update:0", "add", ["w/after_update:0"])
    assert origin.cause.text.startswith(
        "The update itself overflows: w and its step are finite, the sum at 1 element"
    )
    after = OriginSearch(run).spoiled(origin)
    assert (after.bad, after.total, after.variables) == (2, 2, ("w",)), "what was read comes before what shows it"


def test_in_a_loop_it_is_shown_what_the_turn_before_left() -> None:
    origin, every = found(in_a_loop([1.0, 3.2e38], [1.0, 3.4e38], [1.0, INF], [1.0, INF]))
    assert (str(origin.name), origin.made_by, len(every)) == ("while/body/w/after_update:0", "while/body/add", 1)
    assert [item.value.tolist()[1] for item in origin.inputs if item.value is not None] == pytest.approx(
        [3.4e38, 2e37]
    )
    assert origin.cause.text.startswith("The update itself overflows: w and its step are finite")


def test_between_two_updates_the_read_tells_of_the_first_one() -> None:
    run = called(
        op("other", "AssignVariableOp", "w", "x", control=("read",)),
        added(),
        read("read", [1.0, INF], control=("add",)),
        shown([0.0, 1e38]),
    )
    origin, _ = found(run)
    assert (str(origin.name), origin.made_by) == ("read:0", "add")
    assert origin.cause.text.startswith("The update itself overflows: w and its step are finite")
    assert [part.value.item() for part in origin.elements[0].parts if part is not None] == pytest.approx([3e38, 1e38])


@pytest.mark.parametrize("looped", [False, True])
def test_what_was_bad_before_the_run_is_blamed_on_an_earlier_one(looped) -> None:
    bad = [1.0, INF]
    behind = called(added(), read("read", bad, control=("add",)), shown(bad), held=bad)
    origin, every = found(in_a_loop(bad, bad, held=bad) if looped else behind)
    assert (str(origin.name), every) == ("w:0", ["w:0"])
    assert "an earlier run or its initializer made it so" in origin.cause.text


def test_what_cannot_be_told_is_said_so() -> None:
    """The value that a branch left is another than that which is read behind it."""
    run = called(
        op("cond", "If", "x", "w"),
        op("cond/true/add", "AssignAddVariableOp", "w", "x"),
        shown([1.0, 3.1e38], region="cond/true/"),
        read("read", [1.0, INF], control=("cond",)),
    )
    origin, _ = found(run)
    assert origin.cause.text == (
        "Variable w was finite before this run, and not when it was read here: the run itself made it so, by an"
        " update of which no tensor tells."
    )


def test_where_it_is_not_known_what_it_held_before_no_sum_is_said_to_be_too_large() -> None:
    run = called(added(), read("read", [1.0, INF], control=("add",)), shown([1.0, INF]))
    run = replace(run, call=replace(run.call, feeds={"x": run.call.feeds["x"]}))
    origin, _ = found(run)
    assert origin.cause.text == (
        "Variable w is not finite after this finite update: the sum is too large, or it was so before; what it held"
        " then is not known."
    )


def test_what_is_ignored_is_ignored_in_all_turns_and_where_it_is_read() -> None:
    run = called(
        op("log", "Log", "x", value=[-INF, 1.0]),
        op("add", "AssignAddVariableOp", "w", "log"),
        read("read", [-INF, 3e38], control=("add",)),
        shown([-INF, 3e38], by=("log",)),
    )
    assert OriginSearch(run, dismissed=Dismissed(frozenset({"log"}))).first() is None
    assert OriginSearch(run, dismissed=Dismissed(frozenset({"w/after_update"}))).first() is not None, "the log"


def test_the_line_is_of_the_branch_that_ran() -> None:
    run = called(
        op("cond", "If", "x", "w"),
        op("cond/true/add", "AssignAddVariableOp", "w", "x"),
        op("cond/false/add", "AssignAddVariableOp", "w", "x"),
        shown([1.0, INF], region="cond/true/"),
        op("cond/false/w/after_update", "UpdatedVariable", "w", "x"),
    )
    origin, _ = found(run)
    assert origin.made_by == "cond/true/add"
