"""Whatever is typed after `eval`, the process that is debugged does not feel it."""

from __future__ import annotations

import ast
import subprocess
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.ending import ends

from tfdbg_cli.analysis.expression import process as expression_process
from tfdbg_cli.analysis.expression.bounded import evaluate_bounded
from tfdbg_cli.analysis.expression.expression import evaluate
from tfdbg_cli.analysis.expression.process import evaluate_apart
from tfdbg_cli.analysis.expression.weight import is_light
from tfdbg_cli.analysis.expression.wire import Described, packed, unpacked
from tfdbg_cli.errors import TfdbgError

X = np.arange(6, dtype=np.float32).reshape(2, 3)
TENSORS: dict[str, Any] = {"x": X, "b": X.astype(ml_dtypes.bfloat16), "t": np.array([b"a", "ü".encode()], object)}


_ENDLESS = ("round(1, -10**10)",)  # of these nothing but time is too much


@pytest.mark.parametrize(
    "text",
    [
        *_ENDLESS,
        "'a' * np.int64(10**10)",
        "[0] * np.int64(10**9)",
        "(1, 2) * np.int64(10**9)",
        "np.zeros(2**27).tolist()",
        "np.tril_indices(10**6)",
        "np.triu_indices(10**6)",
        "np.mask_indices(10**6, np.triu)",
        "np.zeros(10**6).astype('S100000')",
        "np.bincount([2**40])",
        "np.fft.fft([1], 2**40)",
        "list(np.broadcast_to('a' * 1000, 10**8))",  # the larger an item is, the sooner it is too much
        "('a' * 10**7).replace('a', 'b' * 10**7)",
        "np.array([['a' * 10**6] * 10**4] * 10**3)",
        "np.array([10], object) ** 10**10",
        "`t` * 10**10",
        "np.random.rand(10)",
        "1 << 60000",
        "9" * 4299 + " * 100",
        "{(10**4000 * 10**4000, 1): 2}",
        "np.array([10**4000 * 10**4000])",
    ],
)
def test_what_is_too_much_is_answered_by_a_sentence(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression_process, "MOST_SECONDS", 1 if text in _ENDLESS else 5)
    with ends(text), pytest.raises(TfdbgError) as caught:
        evaluate_bounded(text, TENSORS.__getitem__)
    assert caught.value.message.endswith(".")


def test_numbers_of_too_many_digits_are_refused_and_the_largest_of_fewer_is_shown() -> None:
    assert evaluate_bounded("10**4300 - 1", TENSORS.__getitem__) == 10**4300 - 1
    with pytest.raises(TfdbgError, match=r"a whole number of more than 4,300 digits\. Use floats"):
        evaluate_bounded("-(10**4300)", TENSORS.__getitem__)
    with pytest.raises(TfdbgError, match=r"^The value cannot be written: Exceeds the limit"):
        evaluate_bounded("slice(10**5000)", TENSORS.__getitem__)


def test_what_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression_process, "MOST_SECONDS", 1)
    with ends("counting"), pytest.raises(TfdbgError, match="takes more than the 1 seconds that eval gives one"):
        evaluate_bounded("[0 for a in range(10**6) for b in range(10**6)]", TENSORS.__getitem__)


@pytest.mark.parametrize(
    "text",
    [
        "`x` + 1", "np.max(`x`)", "`x`[0, -1]", "`x`[..., None].shape", "np.isnan(`x`).sum(axis=0)", "-`b` * 2",
        "`x` > 2 if np.any(`x`) else `b`", "np.pi", "`x`.T", "len(`x`) and `x`.size",
    ],
)  # fmt: skip
def test_what_is_light_needs_no_process(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*arguments: object, **more: object) -> None:
        raise AssertionError("a process was started")

    expected = evaluate(text, TENSORS.__getitem__)
    assert repr(evaluate_apart(text, TENSORS)) == repr(expected)
    monkeypatch.setattr(subprocess, "Popen", started)
    assert repr(evaluate_bounded(text, TENSORS.__getitem__)) == repr(expected)


@pytest.mark.parametrize(
    "text",
    [
        "'a' * 2", "x ** 2", "2 << 3", "x @ x", "x[y]", "x.tolist()", "np.tril_indices(3)", "[0] * 3",
        "x.astype('S9')", "np.power(x, 2)", "sum(x)", "list(x)", "x.repeat(3)", "y", "np.zeros(3)", "1 in x",
        "x[[0, 0]]",        "np.add.outer(x, x)", "{1: 2}", "[a for a in x]", "+".join(["x"] * 300),
    ],
)  # fmt: skip
def test_what_may_grow_is_not_light(text: str) -> None:
    assert not is_light(ast.parse(text, mode="eval").body, frozenset({"x"}))


def test_values_come_back_as_they_were() -> None:
    value = [
        X,
        np.float32(2),
        ("a", b"b", None, 2**70, 1j),
        {"k": {1, 2}},
        frozenset({True}),
        TENSORS["t"],
        TENSORS["b"],
    ]
    assert repr(unpacked(packed(value))) == repr(value)
    assert unpacked(packed(slice(1))) == Described("slice", "slice(None, 1, None)")
    assert repr(evaluate_apart("`t`[1].decode() + 'é'", TENSORS)) == "'üé'"


def test_an_error_of_the_expression_is_told_as_ever() -> None:
    with pytest.raises(TfdbgError) as apart:
        evaluate_apart("`x`.reshape(4, 4)", TENSORS)
    with pytest.raises(TfdbgError) as here:
        evaluate("`x`.reshape(4, 4)", TENSORS.__getitem__)
    assert apart.value.message == here.value.message
    with pytest.raises(TfdbgError, match="is not available here") as unknown:
        evaluate_bounded("np.lod(`x`)", TENSORS.__getitem__)
    assert unknown.value.hint
