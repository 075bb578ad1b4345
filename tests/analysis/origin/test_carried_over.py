"""What a run leaves as it was, told apart from what it makes of it: no TensorFlow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op
from support.variable_runs import called, read, shown

from tfdbg_cli.analysis.origin.benign import judged
from tfdbg_cli.analysis.origin.carried_over import CarriedOver, _carries, variables_among
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run

V = op("v", "VarHandleOp")


def _run(before: Any, after: Any, *computed: Op, assigned: str = "") -> Run:
    """A run that reads `before` from the variable v and leaves `after` in it; it gives back `y`."""
    read = op("read", "ReadVariableOp", "v", value=before)
    given = assigned or "y"
    written = op("write", "AssignVariableOp" if assigned else "ResourceStridedSliceAssign", "v", given)
    shown = op("v/after_update", "UpdatedVariable", "v", given, value=after, control=("write",))
    run = made_run(V, read, *computed, op("y", "Const", value=[1.0]), written, shown)
    return replace(run, call=replace(run.call, fetches=("y:0",)))


def _carried(run: Run) -> list[str]:
    names = CarriedOver(run).names(OriginSearch(run).bad_rows())
    return [str(name) for name in names]


def test_what_no_op_wrote_is_as_before() -> None:
    run = _run([NAN, NAN], [0.5, NAN], op("part", "Sqrt", "read", value=[0.5]))
    assert _carried(run) == ["v/after_update:0"]
    assert variables_among(run, CarriedOver(run).names(OriginSearch(run).bad_rows())) == ["v"]


def test_a_minimum_of_what_was_there_is_as_before() -> None:
    run = _run([INF], [INF], op("least", "Minimum", "read", value=[INF]), assigned="least")
    assert _carried(run) == ["least:0", "v/after_update:0"]


@pytest.mark.parametrize(
    ("before", "after", "op_type"),
    [([INF], [NAN], "Minimum"), ([1.0, INF], [INF, INF], "Minimum"), ([1e3], [INF], "Exp"), ([3e38], [INF], "Mul")],
    ids=["NaN", "one more", "an exponential", "an overflow"],
)
def test_another_number_is_not_as_before(before: Any, after: Any, op_type: str) -> None:
    run = _run(before, after, op("new", op_type, "read", value=after), assigned="new")
    assert _carried(run) == []


@pytest.mark.parametrize("op_type", ["TensorScatterUpdate", "TensorStridedSliceUpdate"])
def test_a_copy_with_other_elements_put_in_is_as_before_unless_these_are_bad(op_type: str) -> None:
    good, bad = op("given", "Sqrt", value=[0.5]), op("given", "Sqrt", value=[NAN])
    copy = op("copy", op_type, "read", "given", value=[0.5, NAN])
    assert _carried(_run([NAN, NAN], [0.5, NAN], good, copy, assigned="copy")) == ["copy:0", "v/after_update:0"]
    copy = op("copy", op_type, "read", "given", value=[NAN, NAN])
    assert _carried(_run([NAN, NAN], [NAN, NAN], bad, copy, assigned="copy")) == []


@pytest.mark.parametrize("held", [[NAN], [1.0]], ids=["the same", "finite"])
def test_with_what_a_checkpoint_puts_there_a_variable_begins_anew(held: Any) -> None:
    restored = op("restored", "RestoreV2", value=[NAN])
    assert _carried(_run(held, [NAN], restored, assigned="restored")) == ["restored:0", "v/after_update:0"]
    halved = op("halved", "Mul", "restored", value=[NAN])
    assert _carried(_run(held, [NAN], restored, halved, assigned="halved")) == []


@pytest.mark.parametrize("held", [[NAN], [1.0]], ids=["the same", "finite"])
def test_what_comes_from_outside_is_as_before_where_the_variable_held_it(held: Any) -> None:
    """As weights that Keras loads do, of which a file held what the layer has."""
    given = op("given", "Placeholder", value=[NAN])
    expected = ["given:0", "v/after_update:0"] if np.isnan(held).all() else []
    assert _carried(_run(held, [NAN], given, assigned="given")) == expected


@pytest.mark.parametrize(("wait", "carried"), [("write", True), ("other", False)])
def test_an_update_that_is_fetched_gives_what_is_in_the_variable(wait: str, carried: bool) -> None:
    """A read that waits for no update of the variable is what the program asks for."""
    root = op("part", "Sqrt", value=[0.5])
    write = op("write", "ResourceStridedSliceAssign", "v", "part")
    shown = op("v/after_update", "UpdatedVariable", "v", "part", value=[0.5, NAN], control=("write",))
    read = op("read", "ReadVariableOp", "v", value=[NAN, NAN])
    value = op("value", "ReadVariableOp", "v", value=[0.5, NAN], control=(wait,))
    run = made_run(V, read, root, write, op("other", "NoOp"), value, shown)
    run = replace(run, call=replace(run.call, fetches=("value:0",)))
    assert ("value:0" in _carried(run)) is carried


def test_an_infinity_that_the_program_wrote_down_may_be_new() -> None:
    """A queue frees a slot so, and a state that cannot be reached keeps its infinite cost."""
    none = op("none", "Const", value=[-INF])
    assert _carried(_run([1.0], [-INF], none, assigned="none")) == ["none:0", "v/after_update:0"]
    cost = op("cost", "AddV2", "read", "one", value=[1.0, INF])
    one = op("one", "Const", value=[1.0, 1.0])
    assert _carried(_run([0.0, INF], [1.0, INF], one, cost, assigned="cost")) == ["cost:0", "v/after_update:0"]
    less = op("less", "Sub", "read", "read", value=[0.0, NAN])
    assert _carried(_run([0.0, INF], [0.0, NAN], less, assigned="less")) == []


def test_what_arithmetic_made_anew_is_not_as_before() -> None:
    """Weights that were restored as NaN stay NaN in each step: a person wants to hear of that."""
    run = _run([NAN], [NAN], op("step", "Sub", "read", value=[NAN]), assigned="step")
    assert _carried(run) == []


@pytest.mark.parametrize(
    "writer", ["AssignSubVariableOp", "ResourceApplyAdam", "ResourceScatterAdd", "ResourceSparseApplyAdagrad"]
)
def test_what_an_update_computes_with_is_not_as_before(writer: str) -> None:
    shown = op("v/after_update", "UpdatedVariable", "v", "y", value=[NAN], control=("write",))
    read, y = op("read", "ReadVariableOp", "v", value=[NAN]), op("y", "Const", value=[1.0])
    run = made_run(V, read, y, op("write", writer, "v", "y"), shown)
    assert _carried(replace(run, call=replace(run.call, fetches=("y:0",)))) == []


def test_a_literal_infinity_is_as_good_as_the_one_that_was_there_and_a_literal_nan_is_not() -> None:
    for number, expected in ((-INF, ["none:0", "most:0", "v/after_update:0"]), (NAN, [])):
        literal = op("none", "Const", value=[number])
        most = op("most", "Maximum", "read", "none", value=[number])
        assert _carried(_run([number], [number], literal, most, assigned="most")) == [
            name for name in expected if name != "none:0"
        ]


def test_what_a_carrying_op_made_of_finite_numbers_is_new() -> None:
    narrow = op("narrow", "Cast", "wide", value=[INF])
    run = _run([INF], [INF], op("wide", "Const", value=np.array([1e300])), narrow, assigned="narrow")
    assert _carried(run) == []


def test_a_variable_of_which_nothing_is_known_from_before_is_not_as_before() -> None:
    shown = op("v/after_update", "UpdatedVariable", "v", value=[INF])
    run = made_run(V, op("y", "Const", value=[1.0]), shown)
    assert _carried(replace(run, call=replace(run.call, fetches=("y:0",)))) == []


def test_what_the_program_is_given_is_its_result() -> None:
    run = _run([INF], [INF], op("least", "Minimum", "read", value=[INF]), assigned="least")
    run = replace(run, call=replace(run.call, fetches=("least:0",)))
    assert _carried(run) == ["v/after_update:0"]
    assert judged(run).harm.text == "least:0 comes out of the run."


def test_it_is_no_harm_and_no_place_that_is_left_out_of_later_runs() -> None:
    run = _run([INF], [INF], op("least", "Minimum", "read", value=[INF]), assigned="least")
    run = replace(run, call=replace(run.call, kind=RunKind.FUNCTION))
    judgement = judged(run)
    assert not judgement.harm
    assert [name.node for name in judgement.as_before] == ["least", "v/after_update"]
    assert not {"least", "v/after_update"} & {node for place in judgement.places for node in place.nodes}


def test_the_origin_is_what_was_written_and_not_what_the_variable_holds_beside_it() -> None:
    x = op("x", "Const", value=[-1.0])
    root = op("root", "Sqrt", "x", value=[NAN])
    write = op("write", "ResourceStridedSliceAssign", "v", "root")
    shown = op("v/after_update", "UpdatedVariable", "v", "root", value=[0.5, NAN], control=("write",))
    read = op("read", "ReadVariableOp", "v", value=[0.5, NAN])
    run = made_run(V, read, x, root, write, op("y", "Const", value=[1.0]), shown)
    run = replace(run, call=replace(run.call, fetches=("y:0",)))
    search = OriginSearch(run)
    first = search.first()
    assert first is not None
    found, before = search.harmful(first)
    assert (str(found.name), before) == ("root:0", 1)


def test_what_a_variable_is_given_of_another_is_no_place_that_leaves_variables_finite() -> None:
    """A blind test: where another thread's run had made one -inf, the copy of it was said to leave all finite."""
    run = made_run(
        op("shared", "VariableV2", value=[0.0, -INF]),
        op("local", "VariableV2", value=[0.0, 0.0]),
        op("pull", "Assign", "local", "shared", value=[0.0, -INF]),
    )
    run = replace(run, call=replace(run.call, fetches=("pull:0",)))
    judgement = judged(run)
    assert [name.node for name in judgement.as_before] == ["pull"] and not judgement.harm
    assert not judgement.places


@pytest.mark.parametrize(
    ("part", "carried"),
    [
        (op("part", "StridedSlice", "read", value=[NAN]), True),
        (op("part", "Reshape", "read", value=[[NAN], [NAN]]), True),
        (op("part", "ConcatV2", "read", "bad", value=[NAN, NAN, NAN]), False),
        (op("part", "PadV2", "read", "bad", value=[NAN, NAN, NAN]), False),
        (op("part", "Cast", "read", value=[INF, INF]), False),
    ],
    ids=lambda given: given.op_type if isinstance(given, Op) else "",
)
def test_a_part_of_what_was_read_eagerly_is_as_before_and_what_is_joined_with_it_or_made_of_it_is_not(
    part: Op, carried: bool
) -> None:
    """Read again: NaN that an op computed was no harm once it was joined with what a variable held."""
    run = made_run(V, op("read", "ReadVariableOp", "v", value=[NAN, NAN]), op("bad", "Log", value=[NAN]), part)
    found = _carried(replace(run, call=replace(run.call, kind=RunKind.EAGER, fetches=())))
    assert ("part:0" in found) is carried and "bad:0" not in found


def test_what_the_run_wrote_itself_and_read_again_was_not_there_before() -> None:
    """The variable is assigned an infinity that the run computed, and then half of itself."""
    run = called(
        op("log", "Log", "x", value=[-INF, 1.0]),
        op("first", "AssignVariableOp", "w", "log"),
        read("read", [-INF, 1.0], control=("first",)),
        op("half", "Mul", "read", "x", value=[-INF, 0.5]),
        op("second", "AssignVariableOp", "w", "half", control=("read",)),
        shown([-INF, 0.5], by=("log", "half")),
    )
    assert _carried(run) == []


@pytest.mark.parametrize("made_by", ["Mul", "Identity"], ids=["computed", "taken from a variable"])
def test_a_way_that_many_variables_share_is_followed_once(monkeypatch: pytest.MonkeyPatch, made_by: str) -> None:
    """A blind test: a NaN in a model of 14,679 ops and 733 variables cost two minutes of this."""
    ways = [op("step_0", made_by, "read", value=[NAN])]
    ways += [op(f"step_{at}", "Identity", f"step_{at - 1}", value=[NAN]) for at in range(1, 50)]
    variables = []
    for at in range(30):
        name = f"v{at}"
        variables += [op(name, "VarHandleOp"), op(f"read_{name}", "ReadVariableOp", name, value=[NAN])]
        variables += [op(f"write_{name}", "AssignVariableOp", name, "step_49")]
        variables += [
            op(f"{name}/after_update", "UpdatedVariable", name, "step_49", value=[NAN], control=(f"write_{name}",))
        ]
    run = made_run(op("w", "VarHandleOp"), op("read", "ReadVariableOp", "w", value=[NAN]), *ways, *variables)
    looked: list[int] = []
    monkeypatch.setattr(
        "tfdbg_cli.analysis.origin.carried_over._carries",
        lambda node, value, inputs: bool(looked.append(1)) or _carries(node, value, inputs),
    )
    carried = CarriedOver(run)
    shown = [row for row in range(len(run.tensors)) if run.tensors[row].node.endswith("/after_update")]
    assert [carried.is_as_before(row) for row in shown] == [True] * len(shown)
    assert len(carried.names(shown)) == (0 if made_by == "Mul" else len(shown))
    assert len(looked) <= 2 * len(ways)  # once for what was held, once for what a checkpoint has
