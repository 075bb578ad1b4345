"""The file of `tfdbg run --rules`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.asked.rules_file import EVERY, STANDARD_RULES, rules_in
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.rules import Rule


def _file(folder: Path, text: str) -> str:
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_an_empty_file_means_every_rule_with_its_defaults(tmp_path: Path) -> None:
    asked = rules_in(_file(tmp_path, "# nothing\n"), None)
    assert tuple(rule.name for rule in asked.rules) == STANDARD_RULES
    assert asked.every == EVERY
    assert set(STANDARD_RULES) <= set(BUILT_IN_FILTERS)


def test_a_table_a_rule(tmp_path: Path) -> None:
    text = 'every = 7\n[exploding_gradient]\nnumber = 10\nexclude = "embed"\n[mine]\nonly = "^dense"\n'
    asked = rules_in(_file(tmp_path, text), None)
    assert asked.rules == (Rule("exploding_gradient:10", exclude="embed"), Rule("mine", only="^dense"))
    assert [rule.name for rule in asked.rules] == ["exploding_gradient", "mine"]
    assert asked.every == 7
    assert rules_in(_file(tmp_path, text), 3).every == 3, "the command line goes before the file"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[dead_relu]\nnmber = 1", "has no nmber. Did you mean number"),
        ("[dead_relu]\nnumber = 'x'", "the number of dead_relu is 'x'"),
        ("[dead_relu]\nnumber = true", "the number of dead_relu is True"),
        ("[has_nan]\nnumber = 1", "The filter has_nan takes no number"),
        ("[dead_relu]\nonly = '['", "only of dead_relu is no regex"),
        ("[dead_relu]\nexclude = 3", "exclude of dead_relu is no regex"),
        ("evry = 3", "evry stands outside of any rule. Did you mean every"),
        ("every = 0", "one run in 0 cannot be judged"),
        ("every = true", "one run in True cannot be judged"),
        ("every = ", "is no TOML"),
        ("\x00", "is no TOML"),
    ],
)
def test_what_is_no_rule_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TfdbgError) as refused:
        rules_in(_file(tmp_path, text), None)
    assert message in str(refused.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TfdbgError, match="There is no file of rules"):
        rules_in(str(tmp_path / "none"), None)
    with pytest.raises(TfdbgError, match="Cannot read the rules"):
        rules_in(str(tmp_path), None)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(TfdbgError, match="is no TOML"):
        rules_in(str(tmp_path / "bytes"), None)


@given(st.text(alphabet="[]=\"'#\n aedru_l1.{}\\", max_size=60))
def test_any_text_gives_rules_or_a_reason(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = _file(tmp_path_factory.mktemp("rules"), text)
    try:
        asked = rules_in(path, None)
    except TfdbgError as error:
        assert path in error.message
    else:
        assert asked.rules and asked.every >= 1
