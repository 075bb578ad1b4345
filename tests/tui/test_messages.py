"""`messages`: what the bottom line has said. The title keeps what is ignored, and that the program wrote."""

from __future__ import annotations

import time

import pytest
from support import sample_run
from support.golden import check_golden
from support.looks import written
from support.prompt import Prompt
from support.screen import ClipboardScreen, Driven

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.api import frontends
from tfdbg_cli.commands import said
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.tui.app import App
from tfdbg_cli.tui.state import bars

REGISTRY = standard_registry()
SIZES = [(40, 10), (80, 24), (120, 40), (200, 60)]


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A clock that goes a second with each sentence."""
    seconds = iter(range(1_700_000_000, 1_800_000_000))
    monkeypatch.setattr(said, "now", lambda: float(next(seconds)))
    monkeypatch.setattr(time, "localtime", time.gmtime)


def driven(keys: str, size=(80, 24)) -> Driven:
    return Driven(sample_run.run_end(), keys, size=size, opening="lt", registry=REGISTRY)


KEYS = "UUUy:nonsense<enter><esc>p:messages<enter>"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_screens(size: tuple[int, int]) -> None:
    screen = driven(KEYS, size)
    check_golden(f"screens/messages/messages-{size[0]}x{size[1]}", written(screen, 256))


def test_what_is_said_again_in_a_row_counts_up() -> None:
    text = driven(KEYS).text
    assert "(×3)" in text
    assert "There is no command 'nonsense'." in text
    assert driven(":messages<enter>").text.count("0 messages of this stop") == 1


@pytest.mark.parametrize("keys", ["5", "Gj", "kkkkkk", "m", "'", "<f9>", "<ctrl c>", "0", "<esc>"])
def test_what_echoes_a_key_is_no_message(keys: str) -> None:
    assert driven(keys).state.message is not None
    assert driven(keys + "<esc>:messages<enter>").text.count("0 messages of this stop") == 1


def test_the_line_prompt_keeps_none() -> None:
    prompt = Prompt(sample_run.run_end())
    assert prompt.data("messages")["messages"] == []


def test_the_oldest_are_forgotten() -> None:
    kept = said.Said()
    for number in range(600):
        kept.add(str(number), error=False)
    assert [one.text for one in kept][::499] == ["100", "599"]


@pytest.mark.parametrize("cols", [40, 60, 80, 200])
def test_the_title_keeps_what_is_ignored_and_that_something_was_written(cols: int) -> None:
    screen = driven(":ignore loss/Log<enter>", (cols, 24))
    assert "· 1 ignored" in screen.rows[0]
    assert screen.rows[0].startswith(" run-end: ")
    title = bars.title(screen.state.service, cols, printed=True).text
    assert "· 1 ignored · output (p)" in title
    assert len(title) <= cols


def test_what_is_wrong_with_the_settings_is_said_on_the_first_screen(tmp_path, monkeypatch) -> None:
    """A blind test: what was said on standard error stood behind the screen."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "tfdbg_cli").mkdir()
    (tmp_path / "tfdbg_cli" / "config.toml").write_text("= damaged")
    monkeypatch.setattr(frontends, "_warnings", [])
    settings = frontends.user_settings()
    made = frontends._full_screen(BUILT_IN_FILTERS, settings)
    assert "damaged" in " ".join(made._notes)  # type: ignore[attr-defined]
    app = App(
        sample_run.run_end(), standard_registry(), settings, BUILT_IN_FILTERS, History(()), "lt", notes=["A note."]
    )
    screen = ClipboardScreen((80, 24), [])
    app.run(screen)
    assert "A note." in screen.last_text[21]
