"""The language of queries: what it reads, where it says that it cannot, and that what it writes reads back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.commands.query.facts import BY_NAME
from tfdbg_cli.commands.query.language import (
    Both,
    Either,
    FactTest,
    NamedQuery,
    NamePattern,
    Not,
    Query,
    QueryError,
    written,
)
from tfdbg_cli.commands.query.parser import parse_query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", Both(())),
        ("  ", Both(())),
        ("dense", NamePattern("dense")),
        ("^loss/(a|b)$", NamePattern("^loss/(a|b)$")),
        ("dense nan>0", Both((NamePattern("dense"), FactTest("nan", ">", "0")))),
        ("dense and nan > 0", Both((NamePattern("dense"), FactTest("nan", ">", "0")))),
        ("a b or c", Either((Both((NamePattern("a"), NamePattern("b"))), NamePattern("c")))),
        ("a (b or c)", Both((NamePattern("a"), Either((NamePattern("b"), NamePattern("c")))))),
        ("not a b", Both((Not(NamePattern("a")), NamePattern("b")))),
        ("!grad", Not(NamePattern("grad"))),
        ("not(a)", Not(NamePattern("a"))),
        ("android", NamePattern("android")),
        ('"and"', NamePattern("and")),
        ('"a ""b"" c"', NamePattern('a "b" c')),
        ("shape=[*, 128]", FactTest("shape", "=", "[*, 128]")),
        ("shape=*,128", FactTest("shape", "=", "*,128")),
        ("type==MatMul", FactTest("op", "=", "MatMul")),
        ("size>1.5MB", FactTest("size", ">", "1.5MB")),
        ("(zero>50%)", FactTest("zero", ">", "50%")),
        ("name~'a b'", FactTest("name", "~", "a b")),
        ("dense/MatMul:0", NamePattern("dense/MatMul:0")),
        ("worker:chief0 loss", Both((FactTest("worker", "=", "chief0"), NamePattern("loss")))),
        ("worker!=chief0", FactTest("worker", "!=", "chief0")),
        ("worker:0", NamePattern("worker:0")),
        ('"worker:chief0"', NamePattern("worker:chief0")),
        ("@sick role=grad", Both((NamedQuery("sick"), FactTest("role", "=", "grad")))),
        ('"@sick"', NamePattern("@sick")),
    ],
)  # fmt: skip
def test_what_is_read(text: str, query: Query) -> None:
    assert parse_query(text) == query


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("nan>", 4, "a number is missing"),
        ("nan>x", 4, "'x' is no number"),
        ("dense nam>3", 6, "no fact 'nam'"),
        ("size>3furlongs", 6, "no unit of size"),
        ("max>1MB", 5, "no unit of max"),
        ("(a", 0, "not closed"),
        ("a )", 2, "no bracket is open"),
        ("()", 1, "something is missing before )"),
        ("a or", 4, "missing at the end"),
        ("a and or b", 6, "missing before or"),
        ('x "y', 2, "quote is not closed"),
        ("a [b", 2, "not a regular expression"),
        ("op~[b", 3, "not a regular expression"),
        ("shape=[a]", 6, "Cannot read the shape"),
        ("shape>[3]", 0, "shape does not go with >"),
        ("role=gard", 5, "no role 'gard'"),
        ("dtype=flaot32", 6, "no dtype 'flaot32'"),
        ("dtype!=single", 7, "no dtype 'single'"),
        ("not", 3, "missing at the end"),
        ("(" * 60 + "a" + ")" * 60, 51, "nested too deeply"),
    ],
)  # fmt: skip
def test_an_error_shows_its_place(text: str, at: int, words: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert caught.value.at == at
    assert words in caught.value.message
    assert f"column {at + 1}:" in caught.value.message


_PIECES = st.sampled_from([
    "and", "or", "not", "(", ")", "!", "nan", ">", "=", "~", "!=", "0", "[", "]", '"', "'", " ", "dense", "shape",
    "[*,3]", "size", "1MB", "worker:", "%", "\\", "role", "grad", "layer", "a|b", "*", "\n", "{", "::", "@",
])  # fmt: skip


@given(st.one_of(st.text(), st.lists(_PIECES).map("".join), st.lists(_PIECES).map(" ".join)))
def test_any_text_is_read_or_refused_with_a_place_in_it(text: str) -> None:
    try:
        query = parse_query(text)
    except QueryError as error:
        assert 0 <= error.at <= len(text)
        assert error.message
    else:
        assert parse_query(written(query)) == query


_TEXTS = st.one_of(st.text(max_size=8), st.lists(_PIECES, max_size=4).map("".join))


def _readable(query: Query) -> bool:
    """Whether its words are regular expressions, so that a person could have typed it."""
    try:
        parse_query(written(query))
    except QueryError as error:
        assert "regular expression" in error.message
        return False
    return True


_LEAVES = st.one_of(
    st.builds(NamePattern, _TEXTS),
    st.builds(FactTest, st.sampled_from(["name", "op", "device"]), st.sampled_from(["=", "!=", "~"]), _TEXTS),
    st.sampled_from([FactTest("nan", ">", "0"), FactTest("shape", "!=", "[4, *]")]),
)
_QUERIES = st.recursive(
    _LEAVES,
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.builds(Both, st.lists(parts, min_size=2, max_size=3).map(tuple)),
        st.builds(Either, st.lists(parts, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@given(_QUERIES.filter(_readable))
def test_what_is_written_reads_back_as_the_same_query(query: Query) -> None:
    assert parse_query(written(query)) == query


@pytest.mark.parametrize("text", ["[(]", "a\\\\", "a\\)", "[)]"])
def test_a_bracket_of_its_own_does_not_swallow_one_around_it(text: str) -> None:
    query = Both((NamePattern("x"), Either((NamePattern(text), FactTest("name", "=", text)))))
    assert parse_query(written(query)) == query


def test_every_fact_says_what_it_means() -> None:
    assert all(fact.meaning for fact in BY_NAME.values())
