"""Command lines: words, quotes and redirection."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.commands.syntax import CommandLine, parse_line, quoted
from tfdbg_cli.errors import TfdbgError


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1))
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    assert parse_line(" ".join(map(quoted, words))) == CommandLine(tuple(words))


@given(st.lists(st.text(st.characters(codec="utf-8"))), st.sampled_from(["'", '"']))
def test_quoted_text_never_redirects(words: list[str], quote: str) -> None:
    text = " ".join(["ev", *(quote + word.replace(quote, quote * 2) + quote for word in words)])
    assert parse_line(text) == CommandLine(("ev", *words))


@given(st.text(st.sampled_from("ab'\"`[]()> -=1\t")))
def test_any_line_is_read_or_refused(text: str) -> None:
    try:
        parsed = parse_line(text)
    except TfdbgError as error:
        assert error.message
    else:
        assert isinstance(parsed.redirect, str)


@pytest.mark.parametrize(
    ("text", "words", "redirect"),
    [
        ("lt > out.txt", ["lt"], "out.txt"),
        ("lt >out.txt", ["lt"], "out.txt"),
        ("lt>out.txt", ["lt"], "out.txt"),
        ("pt x -a >out.txt", ["pt", "x", "-a"], "out.txt"),
        ("pt x >|out.txt", ["pt", "x"], "|out.txt"),
        ("pt x >| out.txt", ["pt", "x"], "|out.txt"),
        ("pt x>|out.txt", ["pt", "x"], "|out.txt"),
        ("pt x > 'my file.txt'", ["pt", "x"], "my file.txt"),
        ("lt -n a>out.txt", ["lt", "-n", "a"], "out.txt"),
        ("ev 'a > b'", ["ev", "a > b"], ""),
        ('lt -n "a>b"', ["lt", "-n", "a>b"], ""),
        ("ev `a>b:0`", ["ev", "`a>b:0`"], ""),
        ("ev np.sum(`a` > 0)", ["ev", "np.sum(`a` > 0)"], ""),
        ("ev `a` >= 0", ["ev", "`a`", ">=", "0"], ""),
        ("ev `a`>=0", ["ev", "`a`>=0"], ""),
        ("lp -e >100us", ["lp", "-e", ">100us"], ""),
        ("lp -e >100us > out.txt", ["lp", "-e", ">100us"], "out.txt"),
        ("lp --execution_time=>100us", ["lp", "--execution_time=>100us"], ""),
        ("lp -e [10us,1ms)", ["lp", "-e", "[10us,1ms)"], ""),
        ("pt x[0, 1:2] -r [[0, 1], [2, inf]]", ["pt", "x[0, 1:2]", "-r", "[[0, 1], [2, inf]]"], ""),
        ("lt -n ''", ["lt", "-n", ""], ""),
        ("lt -n 'it''s'", ["lt", "-n", "it's"], ""),
        ("lt --node='a b'", ["lt", "--node=a b"], ""),
        ("ev x['a b']", ["ev", "x['a b']"], ""),
        ("  lt   -s\tdump_size ", ["lt", "-s", "dump_size"], ""),
        ("", [], ""),
    ],
)
def test_lines(text: str, words: list[str], redirect: str) -> None:
    assert parse_line(text) == CommandLine(tuple(words), redirect.removeprefix("|"), redirect.startswith("|"))


@pytest.mark.parametrize(
    "text", ["ev 'a", 'ev "a', "ev `a", "pt x[0", "ev (1", "lt >", "lt > ", "lt>", "lt >|", "lt >| ", "lt>|"]
)
def test_what_does_not_close_is_said(text: str) -> None:
    with pytest.raises(TfdbgError):
        parse_line(text)


def test_a_comparison_without_quotes_writes_no_file_called_0() -> None:
    with pytest.raises(TfdbgError, match="would write a file called 0"):
        parse_line("ev `x:0` > 0")
    assert parse_line("ev `x:0` > ./0").redirect == "./0"


@pytest.mark.parametrize("text", ["break *Grad when absmax > 1e4", "until dense_1 when nan > 0", "b Log when max>1"])
def test_a_condition_is_no_redirect(text) -> None:
    found = parse_line(text)
    assert not found.redirect
    assert " ".join(found.words) == text
    assert parse_line(f"{text} > list.txt").redirect == "list.txt"
