"""The evaluator of `eval`: computes what NumPy computes, and nothing else."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.analysis.expression.expression import evaluate
from tfdbg_cli.analysis.expression.names import BUILT_INS, METHODS, NUMPY
from tfdbg_cli.errors import TfdbgError

A = np.arange(6.0).reshape(2, 3)


def run(text: str) -> object:
    return evaluate(text, {"a": A, "b:0": A + 1}.__getitem__)


@pytest.mark.parametrize(
    "text",
    [
        "np.where(A > 2, A, -A)",
        "A[..., ::-1]",
        "A[None, :, 1:]",
        "A[A > 2]",
        "A.T @ A",
        "np.linalg.norm(A, axis=1)",
        "[x.sum() for x in A if x[0] > 0]",
        "{k: v for k, v in zip('ab', [1, 2])}",
        "{i for i in range(3)}",
        "sum(i * j for i, j in enumerate([1, 2]))",
        "(1 if A.any() else 0, not 1, +2, ~3, 7 // 2, 7 % 4, 2**10, 1 << 3, 5 & 1 | 2 ^ 3)",
        "1 < 2 < 3 and 4 or 5",
        "A.astype(np.int32).dtype.name",
        "max(*[1, 2], **{})",
        "'abc'.upper()[1]",
        "np.add.reduce(A)",
        "np.finfo(np.float32).eps",
        "0 in [0] and 'a' not in 'b' and None is None",
        "dict(**{'x': 1})['x']",
        "np.fft.fft(A[0])",
        "-1.5e3 + 2j",
    ],
)
def test_it_computes_as_python_does(text: str) -> None:
    expected = eval(text.replace("A", "(A)"), {"np": np, "A": A})
    found = run(text.replace("A", "`a`"))
    if isinstance(expected, np.ndarray):
        assert np.array_equal(found, expected) and found.dtype == expected.dtype  # type: ignore[attr-defined]
    else:
        assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        "`a`.__class__",
        "().__class__.__base__.__subclasses__()",
        "__import__('os')",
        "open('/etc/passwd')",
        "eval('1')",
        "exec('1')",
        "getattr(1, 'real')",
        "np.load('x')",
        "np.save('x', `a`)",
        "np.memmap('x')",
        "np.fromfile('x')",
        "np.loadtxt('x')",
        "np.genfromtxt('x')",
        "np.ctypeslib",
        "np.lib",
        "np.random.seed(1)",
        "np.set_printoptions(precision=1)",
        "np.seterr(all='raise')",
        "np.frombuffer(b'')",
        "np.vectorize(1)",
        "`a`.tofile('x')",
        "`a`.dump('x')",
        "`a`.ctypes",
        "`a`.data",
        "`a`.base",
        "`a`.setflags(write=True)",
        "`a`.sort()",
        "`a`.fill(0)",
        "`a`.resize(1)",
        "'{0.__class__}'.format(1)",
        "'%s' % 1",
        "f'{1}'",
        "lambda: 1",
        "(x := 1)",
        "[x async for x in `a`]",
        "await x",
        "globals()",
        "`a`.view().setfield(1, 2)",
        "np",
        "np.max",
        "print(1)",
        "type(1)",
        "x = 1",
        "import os",
        "[0 for `a`.x in [1]]",
        "__tensor_0",
    ],
)
def test_it_does_nothing_else(text: str) -> None:
    with pytest.raises(TfdbgError):
        run(text)


@pytest.mark.parametrize(
    "text",
    [
        "10**10**10",
        "1 << 10**9",
        "'a' * 10**10",
        "[0] * 10**10",
        "list(range(10**12))",
        "bytes(10**12)",
        "np.zeros((10**6, 10**6))",
        "np.zeros(10**12)",
        "np.ones(shape=10**12)",
        "np.arange(10**12)",
        "np.arange(0, 1, 1e-12)",
        "np.linspace(0, 1, 10**12)",
        "np.linspace(0, 1, num=10**12)",
        "np.eye(10**6)",
        "np.tile(`a`, 10**12)",
        "np.repeat(`a`, 10**12)",
        "`a`.repeat(10**12)",
        "np.broadcast_to(`a`, (10**9, 2, 3))",
        "np.arange(10**5)[:, None] * np.arange(10**5)",
        "np.add(np.arange(10**5)[:, None], np.arange(10**5))",
        "np.add.outer(np.arange(10**5), np.arange(10**5))",
        "np.outer(np.arange(10**5), np.arange(10**5))",
        "np.arange(10**5)[:, None] == np.arange(10**5)",
        "np.arange(10**5)[:, None] @ np.arange(10**5)[None]",
        "np.meshgrid(np.arange(10**5), np.arange(10**5))",
        "np.diag(np.arange(10**5))",
        "np.pad(`a`, 10**9)",
    ],
)
def test_a_slip_of_the_keyboard_takes_no_memory(text: str) -> None:
    with pytest.raises(TfdbgError):
        run(text)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "There is no expression"),
        ("`a", "closing backtick"),
        ("1 +", "cannot be read"),
        ("a + 1", "There is no name 'a'"),
        ("sqrt(1)", "There is no name 'sqrt'"),
        ("1 / 0", "ZeroDivisionError"),
        ("`a`[9]", "IndexError"),
        ("`a`.reshape(7)", "ValueError"),
        ("(" * 500 + ")" * 500, "cannot be read"),
        ("if `a` > 1: pass", "cannot be read"),
        ("`a` and 1", "ValueError"),
    ],
)
def test_mistakes_are_said(text: str, cause: str) -> None:
    with pytest.raises(TfdbgError, match=cause):
        run(text)


def test_the_hint_names_numpy() -> None:
    with pytest.raises(TfdbgError) as caught:
        run("sqrt(1)")
    assert caught.value.hint == "Write np.sqrt."


def test_the_hint_says_how_a_tensor_is_written() -> None:
    with pytest.raises(TfdbgError) as caught:
        run("np.maximum(maxx, 1)")
    assert caught.value.hint == "A tensor stands in backticks: `maxx:0`. Or did you mean max?"
    with pytest.raises(TfdbgError) as caught:
        run("dense_1")
    assert caught.value.hint == "A tensor stands in backticks: `dense_1:0`."


@given(st.text(st.sampled_from("ab`np.0123456789+-*/()[]{}, :<>=!&|'\"ifelsornt_ "), max_size=40))
def test_no_text_gets_past_the_error_type(text: str) -> None:
    with contextlib.suppress(TfdbgError):
        evaluate(text, lambda name: A)


def test_names_exist_and_none_is_private() -> None:
    assert {"max", "isnan", "where", "float32", "pi", "linalg"} <= set(NUMPY.entries)
    for names in (NUMPY.entries, BUILT_INS, METHODS):
        assert not [name for name in names if name.startswith("_")]


def test_error_state_and_print_options_are_left_alone() -> None:
    before = np.geterr(), np.get_printoptions()
    run("np.log(`a` - 1)")
    assert (np.geterr(), np.get_printoptions()) == before
