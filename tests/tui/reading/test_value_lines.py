"""A search by value in printed arrays: the lines are told from the elements, and no line is made for it."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.document.array import ArrayBlock, ArrayLines, ArrayStyle
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.text import Line, line
from tfdbg_cli.tui.reading import value_lines as module
from tfdbg_cli.tui.reading.match_walk import MatchWalk
from tfdbg_cli.tui.reading.value_lines import value_lines
from tfdbg_cli.tui.reading.viewport import Viewport


def _shown(*arrays: np.ndarray, threshold: int | None = None) -> Viewport:
    style = ArrayStyle(threshold=threshold, linewidth=60)
    blocks = [Text((line("0.75 of all"), line("0.9"))), *(ArrayBlock(array, style) for array in arrays)]
    view = Viewport(Document("tensor", tuple(blocks)))
    view.resize(60, 10)
    return view


def _steps(view: Viewport, text: str) -> list[int]:
    """The lines that all steps through the document find."""
    lines = value_lines(text, view)
    assert lines is not None
    at, found = 0, []
    while at < len(view.lines):
        end, some = lines.step(at, len(view.lines))
        assert end > at
        assert all(at <= number < end for number in some)
        at, found = end, [*found, *some]
    return found


@pytest.mark.parametrize("shape", [(), (1,), (500,), (37, 11), (5, 1, 7), (3, 4, 5, 6)])
@pytest.mark.parametrize("threshold", [None, 20])
@pytest.mark.parametrize("step", [3, 100, 1 << 16])
def test_it_finds_the_lines_whose_elements_meet_it(
    shape: tuple[int, ...], threshold: int | None, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STEP", step)
    rng = np.random.default_rng(3)
    view = _shown(rng.random(shape), np.zeros(0), rng.integers(0, 9, 40), threshold=threshold)
    for text in (">0.97", "<0.5", "==8", "nan"):
        lines = value_lines(text, view)
        assert lines is not None
        assert _steps(view, text) == [at for at, one in enumerate(view.lines) if lines.ranges(one, at)], text


def test_a_long_vector_is_searched_as_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: a vector of 10,000,000 elements took minutes, since each of its lines was made for the search."""
    made = []
    make = ArrayLines.line_at

    def counted(lines: ArrayLines, index: int) -> Line:
        made.append(index)
        return make(lines, index)

    vector = np.zeros(2_000_000, np.float32)
    vector[1_234_567] = 1
    view = _shown(vector)
    monkeypatch.setattr(ArrayLines, "line_at", counted)
    seeker = MatchWalk(view)
    seeker.begin()
    seeker.look_for(">0.5")
    while seeker.running:
        seeker.work(10**6)
    assert seeker.notice == "/>0.5  1/1"
    element = view.line(view.selected).element
    assert element is not None
    assert element[0] <= 1_234_567 < element[0] + 20
    assert len(made) < 100
