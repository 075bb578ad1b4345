"""Regular expressions typed by a person."""

from __future__ import annotations

import warnings

import pytest

from tfdbg_cli.commands.asked.patterns import pattern, search_pattern
from tfdbg_cli.errors import TfdbgError


@pytest.mark.parametrize(
    ("typed", "text", "found"),
    [("nan", "NaN", True), ("NaN", "nan", False), (r"\Sn", "aN", True), ("[0-9]+$", "a 12", True), ("é", "É", True)],
)
def test_searches_ignore_case_unless_there_is_a_capital(typed: str, text: str, found: bool) -> None:
    assert bool(search_pattern(typed).search(text)) is found


@pytest.mark.parametrize("typed", ["loss(", "*", "a{99999999999}", "(" * 5000])
def test_a_bad_pattern_is_a_sentence(typed: str) -> None:
    with pytest.raises(TfdbgError, match="is not a regular expression"):
        search_pattern(typed)


def test_what_python_may_change_one_day_is_no_warning_today() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pattern("[[a]").search("[")


def test_python_still_knows_which_warnings_the_program_has_shown() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(2):
            warnings.warn("of the program", stacklevel=1)
            pattern("^loss/")
    assert len(shown) == 1


@pytest.mark.parametrize(
    "text",
    [
        "(a+)+b",
        "([a-z_/0-9]+)+!",
        r"(\w+\s?)*$",
        r"(\w*)*x",
        r"(\w+\w)+x",
        r"((\w+)_?)+:",
        r"(?:a*|b)+c",
        "(.*)*x",
        "(a+?)+b",
        "(a{1,}){2,}b",
        ".*.*.*!",
        r"(\w*)(.*)[a-z_]+!",
        r"(x|.*\w*.*!)",
    ],
)
def test_what_may_take_for_ever_is_refused(text: str) -> None:
    """Nothing ends a search in one line, and no key is read meanwhile."""
    with pytest.raises(TfdbgError, match="may take for ever"):
        search_pattern(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (r"(layer_\d+/)+relu", "layer_1/layer_22/relu"),
        (r"(\w+/)*relu", "a/b/relu"),
        (r"([^/]+/)+x", "a/b/x"),
        ("(ab){3}", "ababab"),
        (r"(\d+\.)?\d+e", "3.14e"),
        ("(Add|Mul)+", "AddMul"),
        (".*a.*b.*", "xaxbx"),
        (r"(a+){2}", "aaa"),
        ("((a|b)c*d)+", "acdbd"),
        (r"[(]a+[)]+", "(aa)"),
        (r"\w+.*x", "ab/x"),
        (r".*\d+\.\d+.*e", "3.14e"),
        (r"[a-z]+\d+/[a-z]+\d+/.*", "a1/b2/"),
    ],
)
def test_what_is_separated_may_repeat(text: str, name: str) -> None:
    assert search_pattern(text).search(name)
