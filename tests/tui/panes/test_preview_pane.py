"""The pane of the preview: what it shows, when it is made, where it stands, and how that is remembered."""

from __future__ import annotations

import pytest
from support import sample_run
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.config.settings_file import load_settings
from tfdbg_cli.tui.panes.page_pane import PagePane
from tfdbg_cli.tui.panes.preview_pane import PreviewPane

WIDE, TALL, SMALL = (200, 60), (120, 45), (80, 24)
TO_LOG = "j" * 11  # from the first row of the list to loss/Log:0


def drive(keys="", size=WIDE, opening="lt", **options):
    return Driven(sample_run.run_end(), keys, size=size, opening=opening, registry=standard_registry(), **options)


def previewed(screen):
    """The rows of the preview, from its first line on."""
    for pane, place in zip(screen.state.panes, screen.app.view.layout.panes, strict=True):
        if isinstance(pane, PreviewPane):
            rows = screen.rows[place.top : place.top + place.rows]
            return [row[place.left : place.left + place.cols].strip(" ▐") for row in rows]
    return []


def test_the_chosen_tensor_stands_beside_the_list_as_one_walks() -> None:
    assert previewed(drive())[0] == "x:0"
    rows = previewed(drive(TO_LOG))
    assert rows[0] == "loss/Log:0"
    assert "Made at /home/ada/train.py:8" in rows[2]
    shown = "\n".join(rows)
    assert "1 input\n" in shown
    assert "2 recipients\n" in shown
    assert "…" not in shown, "everything is counted"


def test_below_the_list_where_there_are_rows_and_no_columns() -> None:
    screen = drive(TO_LOG, TALL)
    assert any(row.startswith("── preview ───") for row in screen.rows)
    assert previewed(screen)[0] == "loss/Log:0"
    assert len({len(row) for row in screen.screen.last_text}) == 1


@pytest.mark.parametrize("size", [SMALL, (139, 39)])
def test_without_room_there_is_the_page_alone(size) -> None:
    screen = drive(size=size)
    assert previewed(screen) == []
    assert isinstance(drive("<tab>", size).state.focus, PagePane)


@pytest.mark.parametrize("keys", ["+", "-", "|"])
def test_where_there_is_no_room_for_it_keys_of_the_preview_say_where_it_shows(keys) -> None:
    assert "It shows from 140 columns or 40 rows on." in " ".join(drive(keys, SMALL).status.split())
    assert "It shows" not in drive(keys).status


def test_keys_of_a_preview_that_is_off_say_so() -> None:
    assert "It is off; | shows it." in drive("+", settings=Settings(preview="off")).status
    assert "It is off" not in drive("|", settings=Settings(preview="below")).status, "that is what was asked for"
    assert "One has room from 140 columns or 40 rows on." in " ".join(drive("z", SMALL).status.split())


def test_tab_changes_the_pane_and_links_are_followed_there() -> None:
    screen = drive(f"{TO_LOG}<tab>")
    assert isinstance(screen.state.focus, PreviewPane)
    assert isinstance(drive("<tab><tab>").state.focus, PagePane)
    assert isinstance(drive("<shift tab>").state.focus, PreviewPane)
    assert screen.status.strip().startswith("Enter: pt loss/Log:0")
    assert drive(f"{TO_LOG}<tab><enter>").state.page.command == "pt loss/Log:0"
    below = drive(f"{TO_LOG}<tab>/prob:0<enter><enter>")
    assert below.state.page.command == "pt prob:0"


def test_tab_is_the_next_link_where_there_is_one_pane() -> None:
    screen = drive("<tab>", SMALL)
    assert screen.state.page.view.selected == 4


def test_the_page_keeps_its_mark_without_the_focus_and_the_preview_does_not() -> None:
    screen = drive(f"{TO_LOG}<tab>")
    marked = [row for row in screen.rows if "▸" in row]
    assert len(marked) == 2
    assert sum(row.count("▸") for row in drive(TO_LOG).rows) == 1


def test_z_shows_one_pane_alone_and_again_all() -> None:
    screen = drive("z")
    assert previewed(screen) == []
    assert screen.state.page.view.cols == 198
    alone = drive(f"{TO_LOG}<tab>z")
    assert [type(pane) for pane in alone.state.panes] == [PreviewPane]
    assert alone.rows[2].strip(" ▸") == "loss/Log:0"
    assert previewed(drive(f"{TO_LOG}zz"))[0] == "loss/Log:0"
    assert "no other pane" in drive("z", SMALL).status


def test_a_screen_that_shrinks_while_the_preview_is_zoomed_gives_the_page_back() -> None:
    screen = drive("<tab>z<resize 80x24>j")
    assert isinstance(screen.state.focus, PagePane)
    assert "tensor(s) of 20" in screen.text


def test_the_share_and_the_side_are_kept_with_the_settings() -> None:
    screen = drive("++")
    assert screen.state.service.settings.preview_share == 50
    assert load_settings()[0].preview_share == 50
    assert screen.app.view.layout.panes[0].cols == 99
    assert "preview: 50 percent" in screen.status
    assert drive("-" * 20).state.service.settings.preview_share == 15
    moved = drive("||")
    assert load_settings()[0].preview == moved.state.service.settings.preview == "left"
    assert isinstance(moved.state.panes[0], PreviewPane)
    assert moved.rows[2].startswith(" preview")


def test_every_side() -> None:
    def kinds(side, size=WIDE):
        panes = drive(size=size, settings=Settings(preview=side)).state.panes
        return [type(pane).__name__ for pane in panes]

    assert kinds("right") == ["PagePane", "PreviewPane"]
    assert kinds("left") == ["PreviewPane", "PagePane"]
    assert kinds("off") == ["PagePane"]
    below = drive(settings=Settings(preview="below"))
    assert below.app.view.layout.stacked
    assert drive(size=(200, 30), settings=Settings(preview="below")).app.view.layout.stacked is False
    assert drive(size=TALL, settings=Settings(preview="left")).app.view.layout.stacked


def test_a_border_is_dragged_with_the_mouse() -> None:
    drag = [("mouse press", 1, 119, 20), ("mouse drag", 1, 140, 20), ("mouse drag", 1, 150, 20)]
    screen = drive(drag)
    assert screen.state.service.settings.preview_share == 25
    assert load_settings()[0].preview_share == 40, "it is kept when the button is let go"
    drive([*drag, ("mouse release", 0, 150, 20)])
    assert load_settings()[0].preview_share == 25
    below = drive([("mouse press", 1, 5, 26), ("mouse drag", 1, 5, 12), ("mouse release", 0, 5, 12)], TALL)
    assert below.app.view.layout.panes[1].top == 13
    assert "Hold Shift" in drive([("mouse press", 1, 20, 20), ("mouse drag", 1, 30, 20)]).status


def test_the_batch_stands_beside_the_origin() -> None:
    rows = previewed(drive(opening="origin"))
    assert rows[0] == "1 row of the batch of 4"
    assert "x:0[2]" in rows
    assert "0  0. 0. 0." in rows
    assert "loss/Log:0" in rows, "what is chosen stands below"


def test_what_has_no_preview_says_so() -> None:
    assert previewed(drive(opening="help"))[0] == "Nothing is chosen that has a preview."


def test_an_array_in_its_viewer_has_the_whole_screen() -> None:
    screen = drive(f"{TO_LOG}v")
    assert screen.state.viewer is not None
    assert previewed(screen) == []


def test_on_a_line_of_source_what_it_made_is_previewed() -> None:
    assert previewed(drive(opening="ps train.py -b 7"))[0] == "prob:0"


def test_what_was_being_counted_is_dropped_when_one_walks_on() -> None:
    screen = drive()
    app, pane = screen.app, next(pane for pane in screen.state.panes if isinstance(pane, PreviewPane))
    app.at_once = 0.0
    reads = []
    run = app.state.service._context.run
    value = run.tensors.value
    run.tensors.value = lambda index: reads.append(index) or value(index)
    try:
        for key in "jjjjjjj":
            app.key(key)
        assert pane.running
        app.view.work(lambda: False)
    finally:
        del run.tensors.value
    assert set(reads) <= {7}, "only what is looked at at last is read"
    assert not pane.running


def test_what_the_preview_counts_is_shown_in_the_list_too() -> None:
    screen = drive()
    app, page = screen.app, screen.app.view._workspace._panes[0]
    app.at_once = 0.0
    memory = app.state.service._context.memory
    memory.summaries.clear()
    memory.histograms.clear()
    page.reading.view._kept.clear()
    app.view.render(WIDE, focus=True)
    assert page.running
    pane = app.view._workspace._panes[1]
    app.state.page.view.go(14)
    app.view.arrange(WIDE)
    assert page.running
    pane.work(lambda: False)
    while page.running:
        page.work(lambda: False)
    rows = [row.decode().split("│")[0] for row in app.view.render(WIDE, focus=True).text]
    (row,) = (row for row in rows if "Log  " in row and "loss/Log:0" in row)
    assert "2.944" in row
    assert "…" not in row
