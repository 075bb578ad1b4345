"""Which names are found by a few letters, and which of them stands first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ending import ends
from support.work import counted_calls

from tfdbg_cli.analysis.choosing.fuzzy import FuzzyMatch, FuzzyPattern

NAMES = [
    "dense/MatMul", "dense/BiasAdd", "dense_1/MatMul", "gradient_tape/dense/MatMul", "attention/softmax", "mask",
    "attention/mask/SelectV2", "loss/mean_absolute_error", "commuted_formula", "Adam/update_dense/kernel",
    "list_tensors",
]  # fmt: skip
_letters = st.text("abAB_/1 é", max_size=8)


def ranked(text: str, names: list[str] = NAMES) -> list[str]:
    wanted = FuzzyPattern(text)
    found = [(match.rank, name) for name in names if (match := wanted.match(name))]
    return [name for _, name in sorted(found)]


def shown(text: str, name: str) -> str:
    """`name` with the letters that match in brackets."""
    match = FuzzyPattern(text).match(name)
    assert match is not None
    return "".join(f"[{char}]" if at in match.places else char for at, char in enumerate(name))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("mask", ["mask", "attention/mask/SelectV2"]),
        ("dense", ["dense/MatMul", "dense/BiasAdd", "dense_1/MatMul"]),
        ("mm", ["dense/MatMul", "dense_1/MatMul", "gradient_tape/dense/MatMul", "commuted_formula"]),
        ("mae", ["loss/mean_absolute_error"]),
        ("grad mat", ["gradient_tape/dense/MatMul"]),
        ("BA", ["dense/BiasAdd"]),
        ("d1", ["dense_1/MatMul"]),
        ("lt", ["list_tensors"]),
    ],
)
def test_the_first_ones(text: str, first: list[str]) -> None:
    assert sorted(ranked(text)[: len(first)]) == sorted(first)


def test_the_letters_that_are_marked() -> None:
    assert shown("mm", "dense/MatMul") == "dense/[M]at[M]ul"
    assert shown("mat", "dense/MatMul") == "dense/[M][a][t]Mul"
    assert shown("dmm", "dense/MatMul") == "[d]ense/[M]at[M]ul"
    assert shown("atu", "dense/MatMul") == "dense/M[a][t]M[u]l"
    assert shown("mul dense", "dense/MatMul") == "[d][e][n][s][e]/Mat[M][u][l]"


def test_a_capital_asks_for_itself() -> None:
    assert FuzzyPattern("MM").match("commuted") is None and FuzzyPattern("mm").match("dense/MatMul")


def test_nothing_typed_is_no_wish() -> None:
    assert not FuzzyPattern("  ") and FuzzyPattern("a")


@given(_letters, _letters)
def test_a_hit_holds_the_letters_in_order(text: str, name: str) -> None:
    wanted = FuzzyPattern(text)
    match = wanted.match(name)
    assert (match is not None) == wanted.holds(name)
    folded = name if text != text.lower() else name.lower()
    words = text.split() if text != text.lower() else text.lower().split()

    def holds(word: str) -> bool:
        rest = iter(folded)
        return all(char in rest for char in word)

    assert (match is not None) == all(map(holds, words))
    if match is not None:
        marked = "".join(folded[at] for at in match.places)
        assert all(set(word) <= set(marked) for word in words)
        assert list(match.places) == sorted(set(match.places))
        if len(words) == 1:
            assert marked == words[0]


@given(_letters, _letters, st.text("abAB_/1", max_size=30))
def test_a_prefix_is_never_below_a_scattered_match(text: str, rest: str, other: str) -> None:
    text = text.strip().lower()
    wanted = FuzzyPattern(text)
    scattered: FuzzyMatch | None = wanted.match(other)
    prefix = wanted.match(text + rest)
    if not wanted or " " in text or scattered is None or text in other.lower():
        return
    assert prefix is not None and prefix.rank < scattered.rank


@pytest.mark.parametrize("name", ["a" * 5_000 + "/", "a_" * 5_000, "aB" * 5_000])
def test_no_name_takes_long(name: str) -> None:
    for text in ("a" * 60 + "z", "ab" * 40 + "z", "a" * 200):
        wanted = FuzzyPattern(text)
        with ends("the test of a long name"):
            wanted.holds(name * 100)
        with counted_calls() as work:
            wanted.match(name)
        assert work.calls < 20 * (len(name) + len(text))
