"""Why a function was traced again: the nearest trace before it, and what differs from that."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.analysis.retracing.retracing import AROUND, ITSELF, differences, explained, often_retraced
from tfdbg_cli.model.traces import ArgumentSpec, Signature, SpecKind, Trace, TracedCode, signature_text


def tensor(*shape: int | None, dtype: str = "float32") -> ArgumentSpec:
    text = f"{dtype}[{', '.join(map(str, shape))}]"
    return ArgumentSpec(SpecKind.TENSOR, text, dtype=dtype, shape=shape)


def number(value: float) -> ArgumentSpec:
    return ArgumentSpec(SpecKind.NUMBER, repr(value))


def model(which: int) -> ArgumentSpec:
    return ArgumentSpec(SpecKind.OBJECT, "<Model at …>", which)


def listed(*parts: ArgumentSpec) -> ArgumentSpec:
    return ArgumentSpec(SpecKind.CONTAINER, "list", parts=tuple((f"[{at}]", one) for at, one in enumerate(parts)))


def keyed(**parts: ArgumentSpec) -> ArgumentSpec:
    return ArgumentSpec(
        SpecKind.CONTAINER, "dict", parts=tuple((f"['{key}']", one) for key, one in sorted(parts.items()))
    )


def code(*signatures: Signature, owners: tuple[int, ...] = (), is_method: bool = False) -> TracedCode:
    who = owners or (0,) * len(signatures)
    traces = tuple(Trace(one, 1, owner=owner) for one, owner in zip(signatures, who, strict=True))
    return TracedCode("step", traces, "train.py", 3, is_method)


def told(old: Signature, new: Signature) -> list[tuple[str, str, str]]:
    return [(one.argument, one.old, one.new) for one in differences(old, new)]


def causes(traced: TracedCode) -> list[tuple[str, str, str] | None]:
    found = [one.cause for one in explained(traced)]
    return [None if one is None else (one.argument, one.old, one.new) for one in found]


def test_a_shape_differs() -> None:
    assert told((("x", tensor(8, 3)),), (("x", tensor(7, 3)),)) == [("x", "float32[8, 3]", "float32[7, 3]")]


def test_a_number_differs() -> None:
    assert told((("i", number(3)),), (("i", number(4)),)) == [("i", "3", "4")]


def test_none_became_a_tensor() -> None:
    nothing = ArgumentSpec(SpecKind.CONSTANT, "None")
    assert told((("mask", nothing),), (("mask", tensor()),)) == [("mask", "None", "float32[]")]


def test_a_part_of_an_argument_is_named_by_its_path() -> None:
    old, new = keyed(image=tensor(2), rest=listed(number(1))), keyed(image=tensor(2), rest=listed(number(2)))
    assert told((("batch", old),), (("batch", new),)) == [("batch['rest'][0]", "1", "2")]


def test_another_length_and_other_keys() -> None:
    assert told((("x", listed(tensor())),), (("x", listed(tensor(), tensor())),)) == [("x", "list of 1", "list of 2")]
    found = told((("x", keyed(a=tensor())),), (("x", keyed(b=tensor())),))
    assert found == [("x", "dict of 'a'", "dict of 'b'")]


def test_another_object_of_the_same_class() -> None:
    assert told((("m", model(1)),), (("m", model(2)),)) == [("m", "<Model at …>", "another Model object")]


def test_another_number_of_arguments() -> None:
    assert told((("x", tensor()),), (("x", tensor()), ("args[0]", tensor(2)))) == [
        ("args[0]", "absent", "float32[2]")
    ]


def test_the_nearest_trace_is_compared_with() -> None:
    first, second = (("x", tensor(8)), ("i", number(1))), (("x", tensor(7)), ("i", number(2)))
    third = (("x", tensor(8)), ("i", number(3)))
    assert causes(code(first, second, third))[2] == ("i", "1", "3")


def test_of_several_as_near_the_latest_is_compared_with() -> None:
    assert causes(code(*((("i", number(at)),) for at in range(3)))) == [None, ("i", "0", "1"), ("i", "1", "2")]


def test_another_structure_counts_for_all_that_is_in_it() -> None:
    pair, other = (("x", listed(tensor(8), tensor(8))),), (("x", listed(tensor(7), tensor(7))),)
    three = (("x", listed(tensor(8), tensor(8), tensor(8))),)
    assert causes(code(pair, three, other))[2] == ("x[0]", "float32[8]", "float32[7]")


def test_another_tf_function_of_the_same_code() -> None:
    one = (("x", tensor()),)
    assert causes(code(one, one, owners=(0, 1)))[1] == (
        ITSELF,
        "one tf.function",
        "another tf.function of the same code",
    )
    assert causes(code(one, one, owners=(0, 1), is_method=True))[1] == (
        ITSELF,
        "the method of one object",
        "the method of another object",
    )


def test_a_trace_is_compared_with_those_of_its_own_tf_function() -> None:
    traced = code((("i", number(1)),), (("i", number(2)),), (("i", number(3)),), owners=(0, 1, 0))
    assert causes(traced)[2] == ("i", "1", "3")


def test_the_second_trace_of_a_function_that_creates_variables_is_no_retrace() -> None:
    first = Trace((("x", tensor()),), 0, creates_variables=True)
    traced = TracedCode("step", (first, Trace((("x", tensor()),), 4)))
    assert causes(traced)[1] == (ITSELF, "creates its variables", "uses the variables it created")
    assert not any(one.is_retrace for one in explained(traced))


def test_a_keyword_given_in_another_place_is_no_difference() -> None:
    one, other = ("x", tensor()), ("y", tensor())
    cause = causes(code((one, other), (other, one)))[1]
    assert cause is not None
    assert cause[0] == AROUND


def test_the_same_arguments_elsewhere() -> None:
    one = (("x", tensor()),)
    assert causes(code(one, one))[1] == (AROUND, "the same arguments", "another device, strategy or graph")


def test_a_signature_is_written_with_all_that_is_in_it() -> None:
    named = ArgumentSpec(SpecKind.CONTAINER, "Pair", parts=((".a", number(1)), (".b", tensor())))
    stream = ArgumentSpec(SpecKind.CONTAINER, "iterator", parts=(("", tensor(None, 3)),))
    single = ArgumentSpec(SpecKind.CONTAINER, "tuple", parts=(("[0]", tensor()),))
    signature = (("x", keyed(image=tensor(2), n=listed(number(1)))), ("p", named), ("it", stream), ("t", single))
    assert signature_text(signature) == (
        "x: {'image': float32[2], 'n': [1]}, p: Pair(a=1, b=float32[]), it: iterator of float32[None, 3],"
        " t: (float32[],)"
    )


def numbered(name: str, count: int) -> TracedCode:
    return TracedCode(name, tuple(Trace((("i", number(at)),), 1) for at in range(count)), "train.py", 3)


def test_a_function_that_is_retraced_often_is_told_in_a_few_words() -> None:
    assert often_retraced([numbered("step", 12)]) == (
        "step was traced 12 times, for i = 0, 1, …: `traces` at a prompt tells why."
    )
    assert often_retraced([numbered("few", 6), numbered("step", 12)]) == (
        "step was traced 12 times, for i = 0, 1, … (and 1 other function often): `traces` at a prompt tells why."
    )
    one = (("x", tensor()),)
    made = replace(code(*[one] * 7, owners=tuple(range(7))), name="scale")
    assert often_retraced([made]) == (
        "scale was traced 7 times, most times as another tf.function of the same code:"
        " `traces` at a prompt tells why."
    )


def test_a_few_retraces_and_those_of_packages_are_not_told() -> None:
    assert often_retraced([]) == often_retraced([numbered("few", 5)]) == ""
    package = replace(numbered("step", 12), file="/usr/lib/python3.11/site-packages/keras/trainer.py")
    assert often_retraced([package]) == ""


_LEAVES = st.one_of(
    st.builds(lambda shape: tensor(*shape), st.lists(st.integers(0, 3), max_size=2)),
    st.builds(number, st.integers(0, 3)),
    st.builds(model, st.integers(1, 3)),
    st.just(ArgumentSpec(SpecKind.CONSTANT, "None")),
)
_SPECS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda parts: listed(*parts), st.lists(inner, max_size=3)),
        st.builds(lambda parts: keyed(**parts), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    ),
    max_leaves=5,
)
_SIGNATURES = st.dictionaries(st.sampled_from("xyz"), _SPECS, max_size=3).map(lambda given: tuple(given.items()))


@given(_SIGNATURES, _SIGNATURES)
def test_signatures_differ_exactly_where_something_is_told(old: Signature, new: Signature) -> None:
    assert bool(differences(old, new)) is (dict(old) != dict(new))
    for one in differences(old, new):
        assert one.old != one.new
        assert one.size >= 1


@given(_SIGNATURES, _SIGNATURES)
def test_what_differs_does_so_in_both_directions(old: Signature, new: Signature) -> None:
    assert {one.argument for one in differences(old, new)} == {one.argument for one in differences(new, old)}


@given(st.lists(st.tuples(_SIGNATURES, st.integers(0, 1)), max_size=6))
def test_every_trace_but_the_first_has_a_cause(made: list[tuple[Signature, int]]) -> None:
    traced = TracedCode("step", tuple(Trace(signature, 1, owner=owner) for signature, owner in made))
    found = explained(traced)
    assert [one.trace for one in found] == list(traced.traces)
    assert all((one.cause is None) is (at == 0) for at, one in enumerate(found))
