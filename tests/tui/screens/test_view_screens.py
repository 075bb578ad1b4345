"""Views as a person saw them and agreed, text and looks, in all sizes and themes: tests/golden/screens/views."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.agreed_views import MAIN, VIEWS
from support.golden import check_golden
from support.looks import written
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.verbs import version

REGISTRY = standard_registry()
SIZES = [(40, 10), (80, 24), (120, 40), (200, 60)]
THEMES = ("light", "contrast", "mono", "ascii")  # besides dark, in which all sizes are
SHOWN_ELSEWHERE = {
    "list_tensors": "test_pane_screens", "print_source": "test_pane_screens", "exit": "test_screens: leave",
    "messages": "test_messages", "bundle": "test_written_screens",
    "save": "test_written_screens", "export": "test_written_screens",
}  # fmt: skip
WITHOUT_A_PAGE = {
    "run", "continue", "detach", "abort", "step", "over", "finish", "until", "record", "undo",  # end the stop
    "pdb", "prev", "next", "output", "mouse", "shell",  # the screen's own
    "newer",  # the page of another run, as `older` shows it
}  # fmt: skip


@pytest.fixture(autouse=True)
def _everywhere_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """`config` says where settings are kept, `version` what is installed."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/home/ada/.config")
    monkeypatch.setattr(version, "tensorflow_version", lambda: "2.99.0")
    monkeypatch.setattr(version.np, "__version__", "9.9.9")
    monkeypatch.setattr(version.platform, "python_version", lambda: "3.99.0")


def _written(name: str, size: tuple[int, int], theme: str) -> str:
    screen = VIEWS[name]
    driven = Driven(
        screen.stop(), screen.keys, size=size, opening=screen.opening, registry=REGISTRY,
        settings=replace(screen.settings, theme=theme),
    )  # fmt: skip
    return written(driven, 256)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_at_four_sizes(name: str, size: tuple[int, int]) -> None:
    check_golden(f"screens/views/{name}-{size[0]}x{size[1]}", _written(name, size, "dark"))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", MAIN)
def test_a_main_view_in_other_themes(name: str, theme: str) -> None:
    check_golden(f"screens/views/{name}-{theme}", _written(name, (80, 24), theme))


def _typed() -> Iterator[str]:
    """All that is typed to get to the views, or done by a key."""
    yield "older"  # by [
    for screen in VIEWS.values():
        yield screen.opening
        yield from re.findall(r":([^<]+)<enter>", screen.keys)


def test_every_command_is_seen_or_said_to_have_no_page() -> None:
    typed = {text.split()[0] for text in _typed()}
    for command in REGISTRY:
        seen = typed & {command.name, *command.aliases}
        assert seen or command.name in SHOWN_ELSEWHERE or command.name in WITHOUT_A_PAGE, command.name
