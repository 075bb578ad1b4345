"""What a variable without a pair may be called in the other place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfdbg_cli.analysis.variables.listing import PartialShape, Variable
from tfdbg_cli.analysis.variables.renames import VariableRename, renames


def _renames(
    first: Mapping[str, PartialShape | None],
    second: Mapping[str, PartialShape | None],
    held: tuple[Sequence[bytes | None], Sequence[bytes | None]] | None = None,
) -> Mapping[str, tuple[str, bool]]:
    """By names, all of them without a pair; `held` is what they hold, where that is known."""
    ours, theirs = ([Variable(name, "", "float32", shape) for name, shape in one.items()] for one in (first, second))
    mine, other = held or ([None] * len(ours), [None] * len(theirs))
    found = renames(ours, theirs, range(len(ours)), range(len(theirs)), (mine.__getitem__, other.__getitem__))
    return {ours[at].name: (theirs[one.other].name, one.same_values) for at, one in found.items()}


def test_what_holds_the_same_comes_before_what_is_called_alike() -> None:
    shapes = {"dense/kernel": (2,), "dense/other": (2,)}
    found = _renames(shapes, {"net/kernel": (2,), "net/x": (2,)}, ([b"1", b"2"], [b"2", b"1"]))
    assert found == {"dense/kernel": ("net/x", True), "dense/other": ("net/kernel", True)}


def test_what_several_hold_tells_nothing() -> None:
    found = _renames({"a/x": (2,), "a/y": (2,)}, {"b/y": (2,), "b/x": (2,)}, ([b"0", b"0"], [b"0", b"0"]))
    assert found == {"a/x": ("b/x", False), "a/y": ("b/y", False)}


def _called_alike(
    first: Mapping[str, str], second: Mapping[str, str], held: tuple[Sequence[bytes], Sequence[bytes]]
) -> Mapping[str, tuple[str, bool]]:
    """As `_renames`, by what the program calls each."""
    ours, theirs = (
        [Variable(name, "", "float32", (2,), full_name=called) for name, called in one.items()]
        for one in (first, second)
    )
    found = renames(ours, theirs, range(len(ours)), range(len(theirs)), (held[0].__getitem__, held[1].__getitem__))
    return {ours[at].name: (theirs[one.other].name, one.same_values) for at, one in found.items()}


def test_what_the_program_calls_alike_comes_before_the_number_at_the_end_of_a_key() -> None:
    """A blind test: beside what Keras exported, which has each variable twice, a bias was perhaps a gamma."""
    saved = {"opt/1": "net/bias", "opt/2": "net/gamma", "opt/7": "adam/net_bias_velocity"}
    exported = {"all/1": "net/gamma", "all/2": "net/bias", "own/1": "net/bias", "own/2": "net/gamma", "7": "net/bias"}
    found = _called_alike(saved, exported, ([b"b", b"g", b"m"], [b"g", b"b", b"b", b"g", b"b"]))
    assert found == {"opt/1": ("own/1", True), "opt/2": ("own/2", True)}


def test_of_what_is_called_alike_the_same_values_decide_then_the_first_is_taken() -> None:
    several = {"a/x": "w", "b/y": "w"}
    assert _called_alike({"c/z": "w"}, several, ([b"1"], [b"0", b"1"])) == {"c/z": ("b/y", True)}
    assert _called_alike({"c/z": "w"}, several, ([b"2"], [b"0", b"1"])) == {"c/z": ("a/x", False)}
    assert _called_alike(several, {"c/z": "w"}, ([b"0", b"0"], [b"0"])) == {"a/x": ("c/z", True)}
    assert not _called_alike(several, {"c/p": "w", "d/q": "w"}, ([b"0", b"0"], [b"0", b"0"]))


def test_the_longest_end_of_a_name_counts() -> None:
    found = _renames({"old/1/w": (2,), "old/2/w": (2,)}, {"new/2/w": (2,), "new/1/w": (2,)})
    assert found == {"old/1/w": ("new/1/w", False), "old/2/w": ("new/2/w", False)}


def test_near_names_are_found_last_and_each_is_given_once() -> None:
    found = _renames({"dense_kernel": (2,), "dense_kernels": (2,)}, {"dense_kernel_1": (2,)})
    assert list(found.values()) == [("dense_kernel_1", False)]


def test_other_shapes_and_unknown_ones_are_none() -> None:
    assert not _renames({"a/w": (2,)}, {"b/w": (3,)})
    assert not _renames({"a/w": None}, {"b/w": None})


def test_values_are_read_of_kinds_alone_that_both_have() -> None:
    ours, theirs = [Variable("a", "", "float32", (2,))], [Variable("b", "", "float32", (3,))]

    def refuse(at: int) -> bytes | None:
        raise AssertionError(at)

    assert not renames(ours, theirs, [0], [0], (refuse, refuse))


def test_a_hundred_thousand_of_one_kind_take_no_square_of_that() -> None:
    many = 100_000
    asked = [0]

    def held(at: int) -> bytes | None:
        asked[0] += 1
        return None

    ours, theirs = ([Variable(f"{scope}/{at}/w", "", "float32", (2,)) for at in range(many)] for scope in "ab")
    found = renames(ours, theirs, range(many), range(many), (held, held))
    assert len(found) == many and found[7] == VariableRename(7) and asked == [2 * many]
