"""The next page of a list is painted before anybody turns to it, and shows what is known by then."""

from __future__ import annotations

from unittest.mock import patch

from support import sample_run
from support.slow_screen import Slow

from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.tui.reading import painted_rows

_COUNT = 200


def _screen() -> Slow:
    values = [sample_run.sample_run().tensors.value(2)] * _COUNT
    tensors = [
        describe(TensorName(f"t{i}", 0), value, device="", op_type="Op", dtype="float32")
        for i, value in enumerate(values)
    ]
    store = MemoryTensorStore(tensors, values)
    screen = Slow("lt", RunEnd(sample_run.sample_run(tensors=store, graph=Graph())))
    screen.press("page down")
    screen.app.view.render(screen.size)
    return screen


def _painted_by(screen: Slow, *keys: str) -> int:
    """How many rows the frame behind `keys` paints."""
    with patch.object(painted_rows, "paint", wraps=painted_rows.paint) as paint:
        screen.press(*keys)
        screen.app.view.render(screen.size)
    return paint.call_count


def test_the_frame_of_the_next_page_paints_the_chosen_row_alone() -> None:
    screen = _screen()
    before = _painted_by(screen, "page down")
    assert before > 15
    screen.rest()
    chosen, left_behind = 1, 1  # the row that was chosen is on this page, too, or next to it
    assert _painted_by(screen, "page down") <= chosen + left_behind + 1
    assert not screen.state.page.seeker.active


def test_it_goes_the_way_the_person_goes() -> None:
    screen = _screen()
    for _ in range(4):
        screen.press("page down")
        screen.app.view.render(screen.size)
    screen.press("page up")
    screen.app.view.render(screen.size)
    view = screen.state.page.view
    kept = set(view._kept)
    screen.press("page up")
    screen.app.view.render(screen.size)
    screen.rest()
    assert any(line < view.top for line in set(view._kept)) and kept


def test_it_comes_before_a_search_and_is_not_begun_again() -> None:
    screen = _screen()
    screen.press("/", *"nowhere", "enter", "page down")
    screen.app.view.render(screen.size)
    pane = screen.state.panes[0]
    assert pane.looks_ahead
    searched = screen.state.page.seeker.notice
    while pane.looks_ahead:
        screen.step()
    assert screen.state.page.seeker.notice == searched
    screen.app.view.render(screen.size)
    assert not pane.looks_ahead


def test_what_was_counted_meanwhile_is_seen() -> None:
    screen = _screen()
    while screen.state.panes[0].looks_ahead:
        screen.step()
    view = screen.state.page.view
    ahead = view.top + view.rows + 3
    ((_, table, row),) = view.block_rows(ahead, ahead + 1)
    assert table.later is not None and table.later.missing(row)
    made = view.line(ahead).text
    for _ in table.later.count(row):
        pass
    screen.press("page down")
    screen.app.view.render(screen.size)
    assert view.line(ahead).text != made


def test_lines_that_may_be_dear_are_left_until_they_are_looked_at() -> None:
    screen = Slow("lt --stats", RunEnd(sample_run.sample_run()), size=(80, 12))
    screen.press("page down")
    screen.app.view.render(screen.size)
    assert not screen.state.panes[0].looks_ahead


def test_rows_that_are_kept_go_one_by_one() -> None:
    with patch.object(painted_rows, "_KEPT_ROWS", 30):
        screen = _screen()
        for _ in range(4):
            screen.press("page down")
            screen.app.view.render(screen.size)
        assert len(screen.state.panes[0]._painted._painted) == 30  # type: ignore[attr-defined]
