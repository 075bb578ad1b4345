"""The parts of partitioned variables, by what a checkpoint calls them all."""

from __future__ import annotations

from tfdbg_cli.analysis.variables.listing import PartialShape, Variable
from tfdbg_cli.analysis.variables.partitions import parts_by_whole, with_wholes


def test_parts_and_their_slots_are_told_by_their_names() -> None:
    names = ["a/wide/part_0", "a/wide/part_1", "a/wide/part_1/Momentum", "part_2", "a/party_1", "b"]
    found = parts_by_whole([Variable(name, "") for name in names], range(len(names)))
    assert found == {"a/wide": [0, 1], "a/wide/Momentum": [2]}
    assert not parts_by_whole([Variable("a/part_0", "")], [])


def _made(shapes: list[PartialShape | None], held: PartialShape | None) -> list[tuple[str, PartialShape | None]]:
    """What there is beside a checkpoint that holds `a` whole, by parts of these shapes; and a variable before."""
    parts = [Variable(f"a/part_{at}", "", "float32", shape, 4) for at, shape in enumerate(shapes)]
    found = with_wholes([Variable("b", "", "", ()), *parts], [Variable("a", "", "float32", held)])
    assert found[0].name == "b"
    return [(one.name, one.shape) for one in found[1:]]


def test_parts_make_up_the_shape_of_the_whole() -> None:
    assert _made([(4, 3), (3, 3), (3, 3)], (10, 3)) == [("a", (10, 3))]
    assert _made([(4, 3), (4, 3), (4, 3)], (10, 3)) == [("a", (12, 3))]
    assert _made([(2, 5), (2, 4)], (7, 7)) == [("a", (2, 9))], "these can be cut along one axis alone"
    assert _made([(3,)], (3,)) == [("a", (3,))]


def test_where_parts_do_not_tell_the_axis_what_is_held_does() -> None:
    assert _made([(4, 3), (4, 3)], (4, 6)) == [("a", (4, 6))]
    assert _made([(4, 3), (4, 3)], (4, 9)) == [("a", (4, 6))]
    assert _made([(4, 3), (4, 3)], (5, 5)) == _made([(4, 3), (4, 3)], None) == [("a", (8, 3))]


def test_what_is_not_known_of_a_part_is_not_known_of_the_whole() -> None:
    assert _made([(4, 3), None], (8, 3)) == [("a", None)]
    assert _made([(4, None), (None, 3)], (8, 3)) == [("a", (None, None))]


def test_what_makes_up_no_one_variable_stays_as_it_is() -> None:
    assert _made([(4, 3), (3, 2)], (7, 3)) == [("a/part_0", (4, 3)), ("a/part_1", (3, 2))]
    assert _made([(), ()], (2,)) == [("a/part_0", ()), ("a/part_1", ())]
    parts = [Variable("a/part_0", "", "float32", (1,)), Variable("a/part_1", "", "int32", (1,))]
    assert with_wholes(parts, [Variable("a", "", "float32", (2,))]) == parts
    known = [Variable("a", ""), Variable("a/part_0", ""), Variable("a/part_1", "")]
    assert with_wholes(parts, known) == parts == with_wholes(parts, [])


def test_the_size_of_the_whole_is_that_of_its_parts() -> None:
    parts = [Variable(f"a/part_{at}", "", "float32", (2,), 8) for at in range(2)]
    (whole,) = with_wholes(parts, [Variable("a", "")])
    assert whole.nbytes == 16
    (whole,) = with_wholes([*parts, Variable("a/part_2", "", "float32", (2,))], [Variable("a", "")])
    assert whole.nbytes is None
