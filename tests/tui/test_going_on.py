"""Going on from a run that a watch stopped at: asked where it would be gone, and nothing that looks like a prompt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import sample_run
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.decision import Continue, DebugRun, RunUntil
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.tui.keys.keymap import KeyContext


def driven(keys: str, event: RunEnd | None = None) -> Driven:
    return Driven(event or sample_run.run_hit(), keys, registry=standard_registry())


@pytest.mark.parametrize("key", ["r", "c", "F", "<meta n>", "<meta s>"])
def test_a_key_that_lets_the_hit_of_a_watch_go_asks_first(key: str) -> None:
    """A blind test: `run_info` typed where no prompt was open ran on, and the bad run was gone."""
    screen = driven(key)
    assert screen.decision is None and screen.state.place is KeyContext.GO_ON
    assert "This run is not saved. Go on?" in screen.text
    assert driven(f"{key}<esc>").state.place is KeyContext.DOCUMENT
    assert driven(f"{key}<enter>").decision is None, "the first answer is to stay"


def test_y_goes_on_and_b_saves_first() -> None:
    assert driven("ry").decision == DebugRun()
    assert driven("cy").decision == Continue()
    assert isinstance(driven("Fy").decision, RunUntil)
    screen = driven("rb")
    assert screen.state.place is KeyContext.PROMPT and screen.state.prompt.editor.text == "bundle "


def test_what_is_typed_as_a_command_is_meant() -> None:
    assert driven(":run<enter>").decision == DebugRun()
    assert driven("run_info<enter>").decision is None


def test_a_run_that_is_saved_or_was_not_found_is_let_go() -> None:
    hit = sample_run.run_hit()
    saved = replace(hit, watch=RunUntil("has_inf_or_nan", bundle="/data/case"))
    assert driven("r", saved).decision == DebugRun()
    assert driven("r", replace(hit, hit=None)).decision == DebugRun()


def test_the_row_below_a_page_looks_like_no_prompt() -> None:
    assert "tfdbg>" not in driven("").text
    assert "To type a command, press : first" in driven("").text
