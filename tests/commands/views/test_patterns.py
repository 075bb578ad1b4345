"""Regular expressions typed by a person."""

from __future__ import annotations

import warnings

import pytest

from tfdbg_cli.commands.views.patterns import pattern, search_pattern
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
