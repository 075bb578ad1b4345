"""Which variables of a program a checkpoint would fill."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.analysis.variables.filling import Filling, filled, restored
from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.model.restoring import ProgramObject, ProgramVariable, ProgramVariables, SavedObject, from_data

_END = "/.ATTRIBUTES/VARIABLE_VALUE"


def _saved(*names: str) -> list[Variable]:
    return [Variable(name, "", "float32", (2,), key=name + _END) for name in names]


def _program(*names: str, roots: list[list[ProgramObject]] | None = None) -> ProgramVariables:
    return ProgramVariables("here", [ProgramVariable(name, "float32", (2,)) for name in names], roots or [])


def _objects(*keys: str) -> list[SavedObject]:
    """A root whose children are called as the variables."""
    children = {key: at for at, key in enumerate(keys, 1)}
    return [SavedObject(children), *(SavedObject({}, (key + _END,)) for key in keys)]


def _told(found: Filling, saved: list[Variable]) -> tuple[list[str], list[str], list[str]]:
    pairs = [f"{found.rows[mine].name}={saved[other].name}" for mine, other in found.pairs]
    return pairs, [found.rows[at].name for at in found.not_filled], [saved[at].name for at in found.not_taken]


def test_objects_are_walked_by_the_names_of_children_and_what_variables_are_called_does_not_count() -> None:
    saved = _saved("w", "b")
    root = [ProgramObject({"w": 1, "c": 2}), ProgramObject({}, 0), ProgramObject({}, 1)]
    found = filled(_program("dense/kernel", "b", roots=[root]), saved, _objects("w", "b"))
    assert found.by_objects
    assert _told(found, saved) == (["dense/kernel=w"], ["b"], ["b"])
    assert not found.whole


def test_what_nothing_leads_to_stays_outside() -> None:
    saved = _saved("w")
    root = [ProgramObject({"w": 1}), ProgramObject({}, 0)]
    found = filled(_program("w", "metric", roots=[root]), saved, _objects("w"))
    assert (_told(found, saved), found.outside, found.whole) == ((["w=w"], [], []), [1], True)


def test_an_object_that_two_ways_lead_to_is_found_by_either() -> None:
    saved = [SavedObject({"optimizer": 1, "model": 2}), SavedObject({"0": 3}), SavedObject({"w": 3})]
    saved.append(SavedObject({}, ("optimizer/0" + _END,)))
    program = [ProgramObject({"model": 1}), ProgramObject({"w": 2}), ProgramObject({}, 0)]
    assert restored(program, saved) == {0: "optimizer/0" + _END}


def test_ways_in_circles_and_to_nowhere_end() -> None:
    saved = [SavedObject({"self": 0, "lost": 9, "w": 1}), SavedObject({"up": 0}, ("w" + _END,))]
    program = [ProgramObject({"self": 0, "lost": 1, "w": 1}), ProgramObject({"up": 0}, 0)]
    assert restored(program, saved) == {0: "w" + _END}
    assert restored([], saved) == {} == restored(program, [])


def test_the_root_that_fills_most_is_taken_and_the_counter_of_saves_is_not_missed() -> None:
    saved = _saved("w", "b", "save_counter")
    little = [ProgramObject({"w": 1}), ProgramObject({}, 0)]
    much = [ProgramObject({"w": 1, "b": 2}), ProgramObject({}, 0), ProgramObject({}, 1)]
    program = _program("x", "y", roots=[little, much])
    found = filled(program, saved, _objects("w", "b", "save_counter"))
    assert _told(found, saved) == (["x=w", "y=b"], [], []) and found.whole


def test_what_only_another_checkpoint_object_leads_to_is_told_apart() -> None:
    """A blind test: a variable to which the second tf.train.Checkpoint leads was one to which none does."""
    first = [ProgramObject({"w": 1, "save_counter": 2}), ProgramObject({}, 0), ProgramObject({})]
    second = [ProgramObject({"net": 1}), ProgramObject({}, 1)]
    program = replace(_program("w", "z", "kept", "metric", roots=[second, first]), led_to=[0, 2])
    found = filled(program, _saved("w"), _objects("w"))
    assert ([*found.elsewhere], [*found.outside], [*found.root], found.roots) == ([1, 2], [3], ["w"], 2)
    assert found.whole


def test_what_an_optimizer_of_old_keeps_is_found_by_its_name_where_the_optimizer_is() -> None:
    saved = _saved("w", "opt/iter")
    key = "w/.OPTIMIZER_SLOT/opt/m" + _END
    saved.append(Variable("w/opt/m", "", "float32", (2,), key=key, full_name="Adam/w/m", slot_of="w"))
    objects = [SavedObject({"w": 1, "opt": 2}), SavedObject({}, ("w" + _END,)), SavedObject({"iter": 3})]
    objects.append(SavedObject({}, ("opt/iter" + _END,)))
    root = [ProgramObject({"w": 1, "opt": 2}), ProgramObject({}, 0), ProgramObject({"iter": 3}), ProgramObject({}, 1)]
    found = filled(_program("w", "iter", "w/m", roots=[root]), saved, objects)
    assert _told(found, saved) == (["w=w", "iter=opt/iter", "w/m=w/opt/m"], [], [])
    alone = [ProgramObject({"w": 1}), ProgramObject({}, 0)]
    without = filled(_program("w", "iter", "w/m", roots=[alone]), saved, objects)
    assert _told(without, saved) == (["w=w"], [], ["opt/iter", "w/opt/m"])


def test_without_objects_names_count_and_what_may_be_meant_is_suggested() -> None:
    saved = [Variable(name, "", "float32", (2,)) for name in ("a/w", "same")]
    found = filled(_program("b/w", "same"), saved, [])
    assert not found.by_objects
    assert _told(found, saved) == (["same=same"], ["b/w"], ["a/w"])
    assert [saved[one.other].name for one in found.suggested.values()] == ["a/w"]


def test_the_parts_of_a_partitioned_variable_are_one() -> None:
    saved = [Variable("wide", "", "float32", (4,))]
    found = filled(_program("wide/part_0", "wide/part_1"), saved, [])
    assert _told(found, saved) == (["wide=wide"], [], []) and found.whole
    alone = filled(_program("other/part_0"), saved, [])
    assert _told(alone, saved) == ([], ["other/part_0"], ["wide"])


def test_the_parts_of_a_partitioned_variable_fill_no_variable_of_another_shape() -> None:
    """A blind test: 12 rows in three parts counted as filled by a checkpoint of 10, where TensorFlow raises."""
    saved = [Variable("wide", "", "float32", (5,)), Variable("double", "", "float64", (4,))]
    names = [f"{whole}/part_{at}" for whole in ("wide", "double") for at in (0, 1)]
    found = filled(_program(*names), saved, [])
    assert ([found.rows[at].shape for at, _ in found.misfits], found.whole) == ([(4,), (4,)], False)


def test_another_shape_or_dtype_does_not_fit() -> None:
    saved = [
        Variable("a", "", "float32", (3,)),
        Variable("b", "", "float64", (2,)),
        Variable("c", "", "float32", (2,)),
    ]
    found = filled(_program("a", "b", "c"), saved, [])
    assert (len(found.pairs), found.misfits, found.whole) == (3, [(0, 0), (1, 1)], False)


def test_what_a_program_told_is_the_same_after_its_way_through_json() -> None:
    root = [ProgramObject({"w": 1}), ProgramObject({}, 0)]
    told = ProgramVariables(
        "here", [ProgramVariable("w", "float32", (None, 2)), ProgramVariable("v", "", None)], [root], [1]
    )
    assert from_data(told.data()) == told
