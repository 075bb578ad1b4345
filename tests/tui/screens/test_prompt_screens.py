"""Prompts, dialogs and notices as a person saw them and agreed, text and looks: tests/golden/screens/prompts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from support import sample_run
from support.golden import check_golden
from support.kept_stop import kept
from support.looks import frame_with_looks, written
from support.paused_program import paused
from support.sample_stepper import SampleSteppable
from support.screen import Driven
from support.slow_screen import Slow

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.formats.container import saving
from tfdbg_cli.model.runs import Stop
from tfdbg_cli.tui import app
from tfdbg_cli.tui.panes import workspace
from tfdbg_cli.tui.panes.preview_pane import PreviewPane
from tfdbg_cli.tui.state import pending
from tfdbg_cli.tui.state.pending import working

REGISTRY = standard_registry()
SIZES = [(40, 10), (80, 24), (120, 40), (200, 60)]
LONG = "eval " + " + ".join(f"np.exp(`loss/Log:0`) * {n}" for n in range(9))
HISTORY = (LONG, "lt -s size", "pt loss/Log:0", "origin")


def _stepping() -> Stop:
    return replace(sample_run.run_start(), steppable=SampleSteppable())


def _paused() -> Stop:
    return paused()[0]


# The stop, the command it opens with, and the keys.
PROMPTS: dict[str, tuple[Callable[[], Stop], str, str]] = {
    # the line of commands
    "empty": (sample_run.run_end, "lt", ":"),
    "commands": (sample_run.run_end, "lt", ":<tab>"),
    "candidates": (sample_run.run_end, "lt", ":pt loss/<tab><tab>"),
    "flags": (sample_run.run_end, "lt", ":lt --<tab>"),
    "nothing-completes": (sample_run.run_end, "lt", ":zz<tab>"),
    "history": (sample_run.run_end, "lt", ":<up><up>"),
    "long": (sample_run.run_end, "lt", ":ev<up>"),
    "long-start": (sample_run.run_end, "lt", ":ev<up><home>"),
    "unknown": (sample_run.run_end, "lt", ":origni<enter>"),
    "wrong-flag": (sample_run.run_end, "lt", ":lt --nonsense 3 -s size<enter>"),
    "wrong-moment": (sample_run.run_start, "run_info", ":lt<enter>"),
    "wrong-filter": (sample_run.run_end, "lt", ":run -f has_ifn<enter>"),
    # searches, counts, marks
    "search": (sample_run.run_end, "lt", "/loss"),
    "search-kept": (sample_run.run_end, "lt", "/loss<enter>n"),
    "search-none": (sample_run.run_end, "lt", "/zzz"),
    "search-wrong": (sample_run.run_end, "lt", "/loss("),
    "values-by-size": (sample_run.run_end, "pt loss/Log:0", "/>2"),
    "count": (sample_run.run_end, "lt", "12"),
    "begun": (sample_run.run_end, "lt", "]"),
    "mark": (sample_run.run_end, "lt", "m"),
    "dead-key": (sample_run.run_end, "lt", "<f9>"),
    # what a key asks for
    "element": (sample_run.run_end, "pt loss/Log:0", "@"),
    "export": (sample_run.run_end, "lt", "X"),
    "bundle": (sample_run.run_end, "lt", "B"),
    "until": (_paused, "here", "<meta u>"),
    "break": (_paused, "here", "<meta b>"),
    "interrupted": (sample_run.run_end, "lt", "<ctrl c>"),
    # dialogs
    "leave": (sample_run.run_end, "lt", "q"),
    "go-on": (sample_run.run_hit, "lt", "r"),
    "leave-recording": (sample_run.opened, "lt", "q"),
    "keys": (sample_run.run_end, "lt", "?"),
    "keys-end": (sample_run.run_end, "lt", "?G"),
    "keys-of-a-start": (sample_run.run_start, "run_info", "?"),
    "keys-of-a-recording": (sample_run.opened, "lt", "?"),
    "keys-paused": (_paused, "here", "?"),
    "keys-stepping": (_stepping, "run_info", ":s<enter>?"),
    "keys-of-the-viewer": (sample_run.run_end, "pt loss/Log:0", "?"),
    "keys-of-the-preview": (sample_run.run_end, "lt", "<tab>?"),
    "finder": (sample_run.run_end, "lt", "<ctrl p>los"),
    # other titles and bars
    "start": (sample_run.run_start, "run_info", ""),
    "hit": (sample_run.run_hit, "lt", ""),
    "failed": (sample_run.run_failed, "lt", ""),
    "kept-runs": (kept, "lt", ""),
    "mouse-off": (sample_run.run_end, "lt", "<meta m>"),
    "zoomed": (sample_run.run_end, "lt", "z"),
    "preview-off": (sample_run.run_end, "lt", "||||"),
    "preview-left": (sample_run.run_end, "lt", "||"),
    "viewer-search": (sample_run.run_end, "pt loss/Log:0", "/>2"),
    "viewer-place": (sample_run.run_end, "pt loss/Log:0", "@"),
}


def _sized(function: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")(function)


def _check(name: str, size: tuple[int, int], text: str) -> None:
    check_golden(f"screens/prompts/{name}-{size[0]}x{size[1]}", text)


@_sized
@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt(name: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))  # a layout is remembered
    stop, opening, keys = PROMPTS[name]
    screen = Driven(stop(), keys, size=size, opening=opening, history=HISTORY, registry=REGISTRY)
    _check(name, size, written(screen, 256))


@_sized
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("saved", ":save runs<enter>"),
        ("saved-again", ":save runs<enter>:save runs<enter>"),
        ("exported", ":lt > page.html<enter>"),
        ("not-held", ":bundle case<enter>"),
    ],
)
def test_what_was_written_is_said(
    name: str, keys: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(saving, "bytes_text", lambda size: "68.4 kB")  # it holds the paths of files of this clone
    _check(name, size, written(Driven(sample_run.run_end(), keys, size=size, registry=REGISTRY), 256))


@_sized
@pytest.mark.parametrize(("name", "steps"), [("pending", 3), ("pending-later", 12)])
def test_an_answer_that_takes_its_time(
    name: str, steps: int, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "time", SimpleNamespace(monotonic=lambda: 0.0))  # the screen tells the seconds
    screen = Slow(size=size)
    screen.press("w", "j", "j")
    for _ in range(steps):
        screen.step()
    driven = screen.driven
    _check(name, size, frame_with_looks(driven, size, 256))


@_sized
def test_rows_that_nobody_counted_yet(size: tuple[int, int]) -> None:
    screen = Slow("ri", size=size)
    screen.press(":", *"lt -n loss", "enter")
    for _ in range(200):
        if screen.state.pending is None:
            break
        screen.step()
    screen.press("j")
    _check("not-counted", size, frame_with_looks(screen.driven, size, 256))


@_sized
def test_a_command_that_keeps_the_screen_busy(size: tuple[int, int]) -> None:
    screen = Driven(sample_run.run_end(), "jj", size=size, registry=REGISTRY)
    view = screen.app.view
    view.render(size)
    screen.screen.canvases.append(view.busy(size, working("lt -s worst", "3 s", "Ctrl-C", size[0] - 1)))
    _check("busy", size, written(screen, 256))


@_sized
def test_the_program_printed_something(size: tuple[int, int]) -> None:
    screen = Driven(sample_run.run_end(), size=size, registry=REGISTRY)
    screen.state.printed = True
    _check("printed", size, frame_with_looks(screen, size, 256))


@_sized
def test_a_mistake_of_ours(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    report = "While: carrying out 'boom'\ntfdbg 0.1.0, Python 3.99, urwid 5, linux\n\nTraceback …\nKeyError: 'late'"
    monkeypatch.setattr(app, "bug_report", lambda what, error: report)
    _check("mistake", size, written(Driven(sample_run.run_end(), ":boom<enter>", size=size), 256))


@_sized
def test_a_mistake_of_a_pane(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr(workspace, "bug_report", lambda what, error: f"While: {what}\n\nKeyError: 'late'")
    monkeypatch.setattr(PreviewPane, "work", fails)
    _check("mistake-of-a-pane", size, written(Driven(sample_run.run_end(), size=size, registry=REGISTRY), 256))


@pytest.mark.parametrize("size", [(39, 24), (80, 9), (12, 4)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_screen_that_is_too_small(size: tuple[int, int]) -> None:
    _check("too-small", size, written(Driven(sample_run.run_end(), size=size, registry=REGISTRY), 256))
