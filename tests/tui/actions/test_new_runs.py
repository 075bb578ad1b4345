"""New runs on the screen: the list of runs shows them, and nothing moves under the hands of a person."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.job_maker import step
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_followed
from tfdbg_cli.formats.recording.saved_runs import SavedRuns
from tfdbg_cli.model.runs import Run


class _Followed:
    """A screen on a recording that is written meanwhile."""

    def __init__(self, path: Path, keys: str = "", runs: int = 3) -> None:
        self.writer = RecordingWriter(path)
        self.count = 0
        self.write(runs)
        self.opened = open_followed(path)
        self.screen = Driven(self.opened, keys, opening="runs", registry=standard_registry())

    def write(self, runs: int) -> None:
        for _ in range(runs):
            self.count += 1
            self.writer.write(step(self.count))

    def grow(self, runs: int) -> None:
        self.write(runs)
        self.screen.state.service.following.look()
        self.screen.app._new_runs.look()

    @property
    def rows(self) -> list[str]:
        canvas = self.screen.app.view.render((80, 24))
        return [row.decode().rstrip() for row in canvas.text]

    @property
    def cursor(self) -> str:
        view = self.screen.state.page.view
        return view.line(view.selected).text


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("r")  # a title has room for it


def test_the_list_grows_and_the_cursor_stays(path: Path) -> None:
    followed = _Followed(path, "j")
    assert "run #2" in followed.cursor
    chosen = followed.screen.state.page.view.chosen
    followed.grow(2)
    assert "5 runs, followed" in followed.rows[0]
    assert any("run #5: train_step()" in row for row in followed.rows)
    assert "run #2" in followed.cursor
    after = followed.screen.state.page.view.chosen
    assert chosen is not None and after is not None and after.link == chosen.link


def test_a_list_that_is_scrolled_stays_where_it_is(path: Path) -> None:
    followed = _Followed(path, "G", runs=60)
    view = followed.screen.state.page.view
    top = view.top
    followed.grow(30)
    assert "run #60" in followed.cursor and view.top == top


def test_a_search_in_the_list_goes_on_in_what_came(path: Path) -> None:
    followed = _Followed(path, "/#5<enter>", runs=3)
    followed.grow(3)
    followed.screen.state.page.seeker.next()
    while followed.screen.state.page.seeker.running:
        followed.screen.state.page.seeker.work(100)
    assert "run #5" in followed.cursor


def test_another_page_is_left_as_it_is_and_a_sentence_says_it(path: Path) -> None:
    followed = _Followed(path, "<enter>")
    page = followed.screen.state.pages.current
    document = page.document
    followed.grow(1)
    assert followed.screen.state.pages.current is page and page.document is document
    message = followed.screen.state.message
    assert message is not None and message.text == "1 new run: there are 4 now."
    assert "4 runs, followed" in followed.rows[0]
    followed.screen.app.perform("prev")
    followed.screen.app._new_runs.look()
    assert any("run #4: train_step()" in row for row in followed.rows)


def test_a_list_that_is_narrowed_grows_by_what_its_query_admits(path: Path) -> None:
    followed = _Followed(path, "frun>2<enter>", runs=3)
    assert any("1 of 3 rows" in row for row in followed.rows)
    followed.grow(2)
    assert any("3 of 5 rows" in row for row in followed.rows)
    assert any("run #5: train_step()" in row for row in followed.rows)
    assert not any("run #2: train_step()" in row for row in followed.rows)
    assert "run #3" in followed.cursor


def test_runs_that_were_asked_are_not_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = _Followed(path, runs=40)
    followed.screen.app.perform("runs -q 'run>38'")
    read: list[int] = []
    runs = followed.opened.runs
    assert isinstance(runs, SavedRuns)
    reading = runs._read

    def counted(key: int) -> Run:
        read.append(key)
        return reading(key)

    monkeypatch.setattr(runs, "_read", counted)
    followed.grow(2)
    assert any("4 of 42 rows" in row for row in followed.rows)
    assert set(read) <= {40, 41, 42}


def test_nothing_changes_while_a_person_types_a_filter(path: Path) -> None:
    followed = _Followed(path, "f#2")
    assert followed.screen.state.filter is not None
    rows = followed.rows[2:]
    followed.grow(2)
    assert followed.rows[2:] == rows
    followed.screen.app.perform("ui:filter-cancel")
    followed.screen.app._new_runs.look()
    assert any("run #5: train_step()" in row for row in followed.rows)
