"""What is typed at the prompt by habit, or pasted there."""

from __future__ import annotations

import pytest
from support import sample_run
from support.screen import Driven


def _driven(keys: list[str]) -> Driven:
    return Driven(sample_run.run_end(), keys)


def test_the_key_of_the_prompt_pressed_twice_opens_it_once() -> None:
    """`:pt x` behind the prompt was no command."""
    screen = _driven([":", ":", ":", "l", "t"])
    assert screen.state.prompt.editor.text == "lt"
    assert _driven([":", "a", ":"]).state.prompt.editor.text == "a:", "names of tensors hold it"


@pytest.mark.parametrize("end", ["enter", "ctrl j"])
def test_lines_that_were_joined_when_they_were_pasted_are_told_of(end: str) -> None:
    screen = _driven([":", "begin paste", "l", "t", end, "l", "l", end, "end paste"])
    assert screen.decision is None and screen.state.prompt.editor.text.strip() == "lt ll"
    assert "The 2 pasted lines were joined" in screen.status
    alone = _driven([":", "begin paste", "l", "t", end, "end paste"])
    assert alone.state.message is None, "what is one line is not joined to another"


def test_a_line_feed_that_is_no_part_of_a_paste_parts_words() -> None:
    """Such lines became one word, `ltll`; were it Enter, those behind the first would be taken for keys."""
    screen = _driven([":", *"lt", "ctrl j", *"run"])
    assert screen.decision is None and screen.state.prompt.editor.text == "lt run"
    assert "A line feed is a blank here" in screen.status
