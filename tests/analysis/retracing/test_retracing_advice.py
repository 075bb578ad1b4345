"""What is advised against retraces."""

from __future__ import annotations

import pytest

from tfdbg_cli.analysis.retracing.advice import advice
from tfdbg_cli.analysis.retracing.retracing import explained
from tfdbg_cli.model.traces import ArgumentSpec, SpecKind, Trace, TracedCode


def tensor(*shape: int | None, dtype: str = "float32") -> ArgumentSpec:
    text = f"{dtype}[{', '.join(map(str, shape))}]"
    return ArgumentSpec(SpecKind.TENSOR, text, dtype=dtype, shape=shape)


def plain(kind: SpecKind, text: str, identity: int = 0) -> ArgumentSpec:
    return ArgumentSpec(kind, text, identity)


NUMBER, CONSTANT, OBJECT, MEMBER = SpecKind.NUMBER, SpecKind.CONSTANT, SpecKind.OBJECT, SpecKind.MEMBER
ANY_RANK = ArgumentSpec(SpecKind.TENSOR, "float32 of any shape", dtype="float32")


def lists(*lengths: int) -> list[ArgumentSpec]:
    parts = [tuple((f"[{at}]", tensor()) for at in range(length)) for length in lengths]
    return [ArgumentSpec(SpecKind.CONTAINER, "list", parts=one) for one in parts]


def dicts(*keys: str) -> list[ArgumentSpec]:
    return [ArgumentSpec(SpecKind.CONTAINER, "dict", parts=((f"['{key}']", tensor()),)) for key in keys]


def told(*given: ArgumentSpec, owners: tuple[int, ...] = (), file: str = "train.py", method: bool = False) -> str:
    """What is advised of a function that was traced for each of `given` as its argument i."""
    who = owners or (0,) * len(given)
    traces = tuple(Trace((("i", spec),), 1, owner=owner) for spec, owner in zip(given, who, strict=True))
    code = TracedCode("step", traces, file, 3, method)
    return " | ".join(one.sentence for one in advice(code, explained(code)))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([plain(NUMBER, "3"), plain(NUMBER, "4")], "Pass tf.constant(i) in place of i"),
        ([plain(NUMBER, "3"), plain(NUMBER, "0.5")], "Pass tf.constant(i, tf.float32) in place of i"),
        ([plain(NUMBER, "3"), plain(NUMBER, "4")], "That is tf.int32. Where TensorFlow then says"),
        ([plain(NUMBER, "3.0"), plain(NUMBER, "nan")], "That is tf.float32."),
        ([plain(NUMBER, "1j"), plain(NUMBER, "(1+2j)")], "That is tf.complex128."),
        ([plain(MEMBER, "Mode.A", 1), plain(MEMBER, "Mode.B", 2)], "member of an Enum has a trace (Mode.A, Mode.B)"),
        ([plain(MEMBER, "Mode.A", 1), tensor()], "Pass a tensor as i in every call, or in none"),
        ([plain(NUMBER, "3"), tensor(dtype="int64")], "Pass tf.constant(i, tf.int64) in place of i"),
        ([tensor(8, 3), tensor(16, 3)], "@tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])"),
        ([tensor(8, 3), tensor(16, 3)], "@tf.function(reduce_retracing=True)"),
        ([tensor(8, 3), tensor(7, 3)], ".batch(n, drop_remainder=True)"),
        ([tensor(8, 3), tensor(8)], "tf.TensorSpec(None, tf.float32)"),
        ([tensor(8), tensor(8, dtype="float16")], "tf.cast(i, tf.float32)"),
        ([plain(CONSTANT, "None"), tensor()], "Pass a tensor as i in every call, or in none"),
        (
            [plain(CONSTANT, "True"), plain(CONSTANT, "False")],
            "A flag has a trace for each value (False, True)",
        ),
        ([plain(CONSTANT, "'a'"), plain(CONSTANT, "'b'")], "better a tensor: tf.constant(i)"),
        ([plain(OBJECT, "<Model at …>", 1), plain(OBJECT, "<Model at …>", 2)], "Make the object for i once"),
        (lists(2, 3), "tf.stack(i)"),
        (dicts("a", "b"), "Pass a dict with the same keys as i"),
        ([plain(OBJECT, "<Model at …>", 1), tensor()], "Pass the same kind of value as i"),
    ],
)
def test_what_helps(given: list[ArgumentSpec], wanted: str) -> None:
    assert wanted in told(*given)


def test_a_trace_for_any_length_needs_no_advice() -> None:
    assert told(tensor(8, 3), tensor(None, 3)) == ""
    assert told(tensor(8, 3), ANY_RANK) == ""


def test_a_larger_size_is_no_rest_of_the_data() -> None:
    assert "drop_remainder" not in told(tensor(8, 3), tensor(16, 3))
    assert "drop_remainder" not in told(tensor(8, 3), tensor(7, 3), tensor(6, 3))


def test_arguments_of_which_the_same_is_to_be_said_are_told_together() -> None:
    traces = tuple(
        Trace((*((name, tensor(size)) for name in "uvwxyz"), ("flag", plain(CONSTANT, "True"))), 1) for size in (2, 3)
    )
    code = TracedCode("step", traces)
    (found,) = advice(code, explained(code))
    assert found.sentence.startswith("u, v, w, x and 2 more: @tf.function(reduce_retracing=True)")


def test_no_input_signature_is_named_that_cannot_be() -> None:
    traces = tuple(
        Trace((("x", tensor(size)), ("flag", plain(CONSTANT, "True"))), 1) for size in (2, 3)
    )  # fmt: skip
    code = TracedCode("step", traces)
    (found,) = advice(code, explained(code))
    assert found.sentence.startswith("x: @tf.function(reduce_retracing=True)")
    assert "input_signature" not in found.text


@pytest.mark.parametrize(
    ("dtypes", "wanted"),
    [
        (
            {"x": "float16", "y": "float16", "z": "int32"},
            " Where it is computed with x, y: tf.constant(i, tf.float16).",
        ),
        (
            {"x": "float16", "y": "int64"},
            "x: tf.constant(i, tf.float16). Where it is computed with y: tf.constant(i, ",
        ),
        ({"x": "int32"}, "as in a shape. That is tf.int32."),
    ],
)
def test_the_dtype_that_a_number_needs_is_that_of_the_tensors_beside_it(dtypes: dict[str, str], wanted: str) -> None:
    beside = tuple((name, tensor(2, dtype=dtype)) for name, dtype in dtypes.items())
    code = TracedCode("step", tuple(Trace((("i", plain(NUMBER, text)), *beside), 1) for text in "34"))
    (found,) = advice(code, explained(code))
    assert wanted in found.text


def test_functions_made_anew() -> None:
    assert "put @tf.function, or step = tf.function(step)" in told(tensor(), tensor(), owners=(0, 1))
    assert "A method has a tf.function for each object" in told(tensor(), tensor(), owners=(0, 1), method=True)
    package = "/usr/lib/python3.11/site-packages/keras/src/trainer.py"
    assert "compile()" in told(tensor(), tensor(), owners=(0, 1), file=package)


def test_an_absent_argument_is_to_be_given_each_time_or_never() -> None:
    traces = (Trace((), 1), Trace((("args[0]", tensor()),), 1))
    code = TracedCode("step", traces)
    assert [one.text for one in advice(code, explained(code))] == ["Pass args[0] in every call, or in none."]


def test_two_traces_for_variables_need_no_advice() -> None:
    code = TracedCode("step", (Trace((), 0, creates_variables=True), Trace((), 1)))
    assert advice(code, explained(code)) == ()


def test_what_made_most_traces_comes_first() -> None:
    signatures = [(tensor(2), "0"), (tensor(2), "1"), (tensor(2), "2"), (tensor(3), "2")]
    traces = tuple(Trace((("x", x), ("i", plain(NUMBER, i))), 1) for x, i in signatures)
    code = TracedCode("step", traces)
    assert [one.argument for one in advice(code, explained(code))] == ["i", "x"]
