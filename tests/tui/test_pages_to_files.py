"""Writing the page on show to a file: what it answers is not done once more."""

from __future__ import annotations

import pytest
from support import sample_run
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry


def _driven(keys: str) -> Driven:
    return Driven(sample_run.run_end(), keys, (80, 24), opening="lt", registry=standard_registry())


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_answer_of_what_acts_is_written_as_it_is(tmp_path) -> None:
    screen = _driven(":bundle case --values<enter>Xpage.txt<enter>")
    assert "Wrote the screen" in "\n".join(screen.rows), screen.rows
    assert "case" in (tmp_path / "page.txt").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case", "page.txt"]


def test_what_is_asked_for_on_another_page_is_done(tmp_path) -> None:
    _driven(":bundle case --values<enter>t:bundle other --values > page.txt<enter>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case", "other", "page.txt"]


def test_a_list_is_written_whole(tmp_path) -> None:
    _driven("Xlist.txt<enter>")
    assert "loss/Log:0" in (tmp_path / "list.txt").read_text()
