"""Answers that take their time: keys are answered meanwhile, and another wish takes their place."""

from __future__ import annotations

from typing import Any

from support import sample_run
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.tui.control.keymap import KeyContext

REGISTRY = standard_registry()


class _Loop:
    """An event loop that calls nobody: the test says when work goes on."""

    def __init__(self, screen: Any) -> None:
        self.screen = screen

    def set_alarm_in(self, seconds: float, callback: Any) -> object:
        return callback

    def remove_alarm(self, alarm: object) -> bool:
        return True


class Slow:
    """The screen of a stop on which no work is done within a key: `step` does one step between two."""

    def __init__(self, opening: str = "lt") -> None:
        self.app = Driven(sample_run.run_end(), "", size=(120, 30), opening=opening, registry=REGISTRY).app
        self.app.at_once = 0.0
        self.app.loop = _Loop(self.app.loop)  # type: ignore[assignment]
        self.state = self.app.state

    def press(self, *keys: str) -> None:
        for key in keys:
            self.app.key(key)

    def step(self) -> None:
        self.app._between_keys._look(lambda: True)

    def finish(self) -> int:
        """Go on until there is nothing pending; how many steps it took."""
        steps = 0
        while self.state.pending is not None:
            self.step()
            steps += 1
            assert steps < 1000
        return steps

    @property
    def status(self) -> str:
        return "\n".join(row.decode() for row in self.app.view.render((120, 30)).text)


def test_keys_move_while_a_list_is_sorted() -> None:
    screen = Slow()
    screen.press("w")
    assert screen.state.pending is not None and screen.state.page.command == "lt"
    screen.press("j", "j")
    assert screen.state.page.view.selected == 5
    assert "lt -s worst: working, " in screen.status and "Esc stops it." in screen.status
    assert screen.finish() > 1
    assert screen.state.page.command == "lt -s worst"


def test_esc_and_ctrl_c_stop_it() -> None:
    for key in ("esc", "ctrl c"):
        screen = Slow()
        screen.press("w", key)
        assert screen.state.pending is None
        assert screen.state.page.command == "lt"
        assert len(screen.state.pages.all) == 1


def test_another_command_takes_its_place() -> None:
    screen = Slow()
    screen.press("w", "i")
    screen.finish()
    assert [page.command for page in screen.state.pages.all] == ["lt", "run_info"]


def test_what_is_typed_meanwhile_is_not_taken_away() -> None:
    screen = Slow()
    screen.press("w", ":", "n", "i")
    for _ in range(200):
        screen.step()
    assert screen.state.place is KeyContext.PROMPT and screen.state.prompt.editor.text == "ni"
    assert screen.state.page.command == "lt"
    screen.press("esc")
    screen.finish()
    assert screen.state.page.command == "lt -s worst"


def test_enter_in_a_filter_before_it_is_done() -> None:
    screen = Slow()
    screen.press("f", *"nan>0", "enter")
    assert screen.state.place is KeyContext.DOCUMENT and screen.state.pending is not None
    screen.press("j")
    assert screen.finish() > 1
    assert [page.command for page in screen.state.pages.all] == ["lt", "lt -q 'nan>0'"]
    dropped = Slow()
    dropped.press("f", *"nan>0", "enter", "esc")
    assert dropped.state.pending is None
    assert [page.command for page in dropped.state.pages.all] == ["lt"]


def test_a_filter_is_put_to_tensors_one_by_one() -> None:
    screen = Slow()
    screen.press(":", *"lt -f has_inf_or_nan", "enter")
    assert screen.finish() > 10
    assert screen.state.page.document.title == "tensors[has_inf_or_nan]"


def test_a_mistake_in_it_is_said_and_nothing_is_pending() -> None:
    screen = Slow()
    screen.press(":", *"lt -f no_such_filter", "enter")
    while screen.state.pending is not None:
        screen.app._guarded("looking", screen.step)
    assert screen.state.message is not None and screen.state.message.error
    assert screen.state.page.command == "lt"
