from __future__ import annotations

import pytest

from tfdbg_cli.examples.flags import flag_parser


@pytest.mark.parametrize(
    ("words", "debug"),
    [([], False), (["--debug"], True), (["--debug=true"], True), (["--debug", "False"], False)],
)
def test_debug_is_a_switch_that_also_takes_a_word(words: list[str], debug: bool) -> None:
    assert flag_parser("").parse_args(words).debug is debug


def test_another_word_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        flag_parser("").parse_args(["--debug=perhaps"])
    assert "true or false, not 'perhaps'" in capsys.readouterr().err


def test_the_names_of_the_old_front_ends_are_known() -> None:
    assert flag_parser("").parse_args([]).ui_type is None
    assert flag_parser("").parse_args(["--ui_type", "readline"]).ui_type == "readline"
    with pytest.raises(SystemExit):
        flag_parser("").parse_args(["--ui_type", "x11"])


def test_only_training_has_steps() -> None:
    assert flag_parser("", max_steps=10).parse_args([]).max_steps == 10
    with pytest.raises(SystemExit):
        flag_parser("").parse_args(["--max_steps", "3"])
