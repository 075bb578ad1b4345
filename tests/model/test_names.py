import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import (
    TensorName,
    did_you_mean,
    free_name,
    nearest,
    node_of,
    node_of_variable,
    parse_index,
    parse_tensor_name,
    split_slice,
    without_number,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a/b:0", TensorName("a/b", 0)),
        ("a/b:12", TensorName("a/b", 12)),
        ("a/b:0:DebugIdentity", TensorName("a/b", 0)),
        ("a/b", None),
        (":0", None),
        ("a:b", None),
        ("a:0:x:y", None),
        ("a:²", None),
        ("a:٣", None),
        ("a:" + "9" * 5000, None),
    ],
)
def test_a_tensor_name_has_a_slot(text, expected):
    assert parse_tensor_name(text) == expected


def test_a_control_input_names_its_node():
    assert node_of("^init/w") == "init/w"
    assert node_of("dense/MatMul:1") == "dense/MatMul"


@pytest.mark.parametrize(
    ("name", "node"), [("w:0", "w"), ("dense/kernel", "dense/kernel"), ("x:1:0", "x.1"), ("x:0:0", "x.0")]
)
def test_a_colon_in_the_name_of_a_variable_is_no_slot(name: str, node: str) -> None:
    """A blind test: a variable called `x:1` was shown as `x`, and that one as `x_2`."""
    assert node_of_variable(name) == node and parse_tensor_name(f"{node}:0") == TensorName(node, 0)


def test_the_slice_is_split_off():
    assert split_slice("x:0[0, ..., -1]") == ("x:0", "[0, ..., -1]")
    assert split_slice("x:0") == ("x:0", "")
    with pytest.raises(TfdbgError, match="Cannot read"):
        split_slice("x:0[0")


def test_python_slices_with_negative_indices_and_ellipsis():
    """TensorFlow's tfdbg: the old tool had no negative or `...` slices."""
    assert parse_index("[-1, ..., 1:-1:2, None]") == (-1, Ellipsis, slice(1, -1, 2), None)
    assert parse_index("") == ()
    assert parse_index("[]") == ()
    assert parse_index("[:, 3]") == (slice(None, None), 3)


def test_lists_of_indices():
    """TensorFlow's tfdbg: the old tool had no boolean and no fancy index."""
    assert parse_index("[[0, -2], 1]") == ([0, -2], 1)
    assert parse_index("[..., [True,False], :2]") == (Ellipsis, [True, False], slice(None, 2))
    assert parse_index("[[]]") == ([],)
    assert split_slice("x:0[[0, 1], [2]]") == ("x:0", "[[0, 1], [2]]")


@pytest.mark.parametrize(
    "bad",
    [
        "[a]",
        "[1:2:3:4]",
        "[1,,2]",
        "[__import__('os')]",
        "[1.5]",
        "[[1.5]]",
        "[[True, 1]]",
        "[[0, 1]",
        "[[[0]]]",
        "[[0:1]]",
    ],
)
def test_a_bad_slice_is_a_clear_error(bad):
    with pytest.raises(TfdbgError) as caught:
        parse_index(bad)
    assert bad in caught.value.message
    assert caught.value.hint


@given(st.lists(st.one_of(st.integers(-99, 99), st.just(Ellipsis), st.just(slice(1, None))), max_size=4))
def test_every_basic_index_survives_printing(axes):
    texts = {Ellipsis: "..."}
    text = ",".join("1:" if isinstance(a, slice) else texts.get(a, str(a)) for a in axes)
    assert parse_index(f"[{text}]") == tuple(axes)


def test_a_name_that_is_known_twice_is_suggested_once():
    """`lt -l hidden_1` asked: "Did you mean hidden or hidden or digits_1/hidden?" """
    assert (
        did_you_mean("hidden_1", ["hidden", "digits_1/hidden", "hidden"]) == "Did you mean hidden or digits_1/hidden?"
    )


def test_nearest_prefers_names_that_contain_the_text():
    known = ["loss/Log", "loss/mul", "dense/MatMul", "prob"]
    assert nearest("log", known)[0] == "loss/Log"
    assert nearest("dense/MatMull", known) == ["dense/MatMul"]
    assert did_you_mean("zzzzqqq", known) == ""
    assert did_you_mean("prb", known) == "Did you mean prob?"


def test_nearest_knows_the_end_of_a_long_name():
    known = ["functional/dense_1/BiasAdd", "compile_loss/mean_squared_error/Sqrt", "functional/dense_1/MatMul"]
    assert nearest("Sqrtt", known) == ["compile_loss/mean_squared_error/Sqrt"]
    assert nearest("dense_1/matmull", known)[0] == "functional/dense_1/MatMul"
    assert nearest("zzzzqqq", known) == []


def test_nearest_stays_fast_and_right_on_a_large_graph():
    known = [f"layer_{i}/kernel" for i in range(30_000)]
    assert nearest("layer_29999", known) == ["layer_29999/kernel"]
    assert nearest("kernell", known) == ["layer_0/kernel"]


def test_a_free_name_beyond_those_that_are_known_to_be_taken() -> None:
    taken = {"v", "v_1", "v_2"}
    asked: list[str] = []

    def is_taken(name: str) -> bool:
        asked.append(name)
        return name in taken

    assert free_name("v", is_taken, beyond=3) == "v_3"
    assert asked == ["v_3"]


@pytest.mark.parametrize(
    ("name", "without"),
    [("dense_1", "dense"), ("a/b_12", "a/b"), ("a_1/b", "a_1/b"), ("a_1_2", "a_1"), ("conv2", "conv2"), ("_3", "")],
)
def test_the_number_that_tensorflow_puts_behind_a_name_is_taken_away(name: str, without: str) -> None:
    assert without_number(name) == without
