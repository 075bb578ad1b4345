"""Drawing the state of the screen, and finding out what a click hit."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import ClassVar

import urwid

from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.tui import bars
from tfdbg_cli.tui.keymap import KeyContext
from tfdbg_cli.tui.layout import MIN_COLS, MIN_ROWS, Layout, layout_for
from tfdbg_cli.tui.line_editor import LineEditor
from tfdbg_cli.tui.paint import ScreenRow, assemble, attribute, canvas, columns, paint, shown
from tfdbg_cli.tui.state import Dialog, State
from tfdbg_cli.tui.viewport import Viewport

_CANDIDATE_ROWS = 4
_DIALOG_COLS = 76
GUTTER = 1  # columns left of the document, for the mark of the selected line


class View(urwid.Widget):
    """The whole screen as one widget.

    `on_key` gets every key, `on_click` every click with its place, `on_bug` what went wrong while drawing: it
    changes the state to something that can be drawn.
    """

    _sizing = frozenset([urwid.BOX])
    _selectable = True
    no_cache: ClassVar[list[str]] = ["render"]

    def __init__(
        self,
        state: State,
        on_key: Callable[[str], None],
        on_click: Callable[[str, int, int], None],
        on_bug: Callable[[str, Exception], None],
    ) -> None:
        super().__init__()
        self._state = state
        self._on_key = on_key
        self._on_click = on_click
        self._on_bug = on_bug
        self.size = (80, 24)
        self.layout: Layout | None = None
        self.links: dict[int, Line] = {}  # rows around the document, for clicks
        self._rows: list[ScreenRow] = []

    def keypress(self, size: tuple[int, int], key: str) -> str | None:  # type: ignore[override]
        """Hand the key on; every key is taken."""
        self._on_key(key)
        return None

    def mouse_event(  # type: ignore[override]
        self, size: tuple[int, int], event: str, button: int, col: int, row: int, focus: bool
    ) -> bool:
        """Hand on presses, turns of the wheel, and that something was dragged."""
        if event.endswith("mouse press"):
            self._on_click({4: "wheel up", 5: "wheel down"}.get(button, f"button {button}"), col, row)
        elif event.endswith("mouse drag"):
            self._on_click("drag", col, row)
        return True

    def render(self, size: tuple[int, int], focus: bool = False) -> urwid.Canvas:  # type: ignore[override]
        """The screen at `size`. A bug in drawing it is drawn instead."""
        self.size = size
        try:
            return self._render(size)
        except Exception as error:  # noqa: BLE001  # a bug in a document must not take the screen away
            self._on_bug("drawing the screen", error)
            return self._render(size)

    def busy(self, size: tuple[int, int], words: str) -> urwid.Canvas:
        """The last screen with `words` in its status row; touches nothing else of the state."""
        rows = list(self._rows)
        if len(rows) != size[1]:  # nothing was drawn yet, or at another size
            rows = [paint(Line(), size[0]) for _ in range(size[1])]
        layout = layout_for(*size)
        rows[layout.prompt_row - 1 if layout else 0] = paint(line(f" {words}"), size[0], base="message")
        return canvas(rows, size[0])

    def arrange(self, size: tuple[int, int]) -> Layout | None:
        """Work out the layout for `size`, and fit the document into it."""
        state = self._state
        where = bars.position(state.page.view, state.mouse)
        status = len(bars.status(state.message, "", where, size[0])) if size[0] >= MIN_COLS else 1
        names = bars.candidates(state.prompt.candidates, -1, 0, size[0], _CANDIDATE_ROWS) if size[0] > 4 else []
        self.layout = layout_for(*size, status, len(names))
        if self.layout is not None:
            page = state.page
            before = page.view.cols
            page.view.resize(size[0] - GUTTER - 1, self.layout.body)
            if before and before != page.view.cols:
                page.finder.relaid()
        return self.layout

    def _render(self, size: tuple[int, int]) -> urwid.Canvas:
        cols, rows = size
        layout = self.arrange(size)
        self.links = {}
        if layout is None:
            self._rows = self._too_small(cols, rows)
            return canvas(self._rows, cols)
        state = self._state
        body, cursor = self._body(state.page.view, layout.body, layout.body_top)
        where = bars.position(state.page.view, state.mouse)
        status = bars.status(state.message, self._otherwise(), where, cols)[: layout.status]
        status_part = "status" if state.message is None else "message error" if state.message.error else "message"
        if state.message is None and state.page.finder.failed:
            status_part = "message error"
        prompt, prompt_cursor = self._prompt(cols, layout.prompt_row)
        names = bars.candidates(
            state.prompt.candidates, state.prompt.picked, state.prompt.left_out, cols, layout.candidates
        )
        self._rows = [
            self._bar(bars.title(state.service, cols), 0, cols, bars.title_part(state.service)),
            self._bar(bars.crumbs(state.pages, cols), 1, cols, "crumbs"),
            *body,
            *(paint(name, cols, base="candidate") for name in names),
            *(paint(item, cols, base=status_part) for item in status),
            prompt,
        ]
        if layout.footer:
            footer = bars.footer(state.place, state.service.moment, cols)
            self._rows.append(self._bar(footer, layout.rows - 1, cols, "footer"))
        drawn: urwid.Canvas = canvas(self._rows, cols, prompt_cursor or cursor)
        return self._over(drawn, state.dialog, cols, rows) if state.dialog else drawn

    def _bar(self, content: Line, row: int, cols: int, base: str) -> ScreenRow:
        self.links[row] = content
        return paint(content, cols, base=base, follow=False)

    def _body(self, view: Viewport, rows: int, top: int) -> tuple[list[ScreenRow], tuple[int, int] | None]:
        finder = self._state.page.finder
        shown_lines = view.visible()
        thumb = _thumb(view, rows)
        painted: list[ScreenRow] = []
        cursor = None
        for row in range(rows):
            edge = _cell("▐", "thumb") if row in thumb else _cell(" ", "track")
            if row >= len(shown_lines):
                painted.append(_side_by_side(assemble([], view.cols + GUTTER, attribute()), edge))
                continue
            index = shown_lines[row]
            content = view.line(index)
            chosen = index == view.selected
            base = "head" if index == view.pinned else "selected" if chosen else ""
            focus = view.link if chosen else None
            matches = finder.ranges(content) if finder.active else ()
            drawn = paint(content, view.cols, base=base, left=view.left, focus=focus, matches=matches)
            painted.append(_side_by_side(_cell("▸" if chosen else " ", "marker", base), drawn, edge))
            if chosen:
                # The hardware cursor stands at the selected line, for screen readers.
                cursor = (0, top + row)
        return painted, cursor

    def _otherwise(self) -> str:
        """What the status row says when there is no message."""
        state = self._state
        if state.dialog is not None:
            return state.dialog.title
        if state.place is KeyContext.PROMPT and state.hint:
            return state.hint
        finder = state.page.finder
        if finder.active and finder.notice:
            return finder.notice
        link = state.page.view.chosen
        if link is not None and not link.link.startswith("ui:"):
            return f"Enter: {link.link}"
        return state.page.document.title

    def _prompt(self, cols: int, row: int) -> tuple[ScreenRow, tuple[int, int] | None]:
        state = self._state
        if state.place is KeyContext.SEARCH:
            return _edited(" /", state.sought, cols, row)
        if state.place is KeyContext.PROMPT:
            return _edited(" tfdbg> ", state.prompt.editor, cols, row)
        kept = state.prompt.editor.text
        idle = line(
            Span(" tfdbg> ", Style.DIM), Span(shown(kept) if kept else "press : to type a command", Style.DIM)
        )
        return paint(idle, cols), None

    def dialog_place(self, cols: int, rows: int) -> tuple[int, int, int, int]:
        """Left, top, columns and rows of the open dialog, frame included."""
        dialog = self._state.dialog
        wide = min(cols - 4, _DIALOG_COLS)
        if dialog is not None:
            dialog.view.resize(wide - 4, max(1, rows - 4))
        high = min(rows - 2, (len(dialog.view.lines) if dialog else 0) + 2)
        return (cols - wide) // 2, max(0, (rows - high) // 2), wide, high

    def _over(self, under: urwid.Canvas, dialog: Dialog, cols: int, rows: int) -> urwid.Canvas:
        left, top, wide, high = self.dialog_place(cols, rows)
        view = dialog.view
        view.resize(wide - 4, high - 2)
        frame = attribute("box")
        heading = f" {dialog.title} "
        drawn = [_edge("┌", heading, "┐", wide)]
        cursor = None
        shown_lines = view.visible()
        for row in range(high - 2):
            index = shown_lines[row] if row < len(shown_lines) else -1
            content = view.line(index) if index >= 0 else Line()
            chosen = index == view.selected and view.link is not None
            inner = paint(content, wide - 4, base="box", focus=view.link if chosen else None)
            drawn.append(_framed(inner, frame))
            if chosen:
                cursor = (1, row + 1)
        more = f" {view.selected + 1}/{len(view.lines)} " if len(view.lines) > high - 2 else ""
        drawn.append(_edge("└", more, "┘", wide))
        box = urwid.CompositeCanvas(canvas(drawn, wide, cursor))
        base = urwid.CompositeCanvas(under)
        base.cursor = None
        return urwid.CanvasOverlay(box, base, left, top)

    @staticmethod
    def _too_small(cols: int, rows: int) -> list[ScreenRow]:
        words = f"tfdbg needs a screen of at least {MIN_COLS} by {MIN_ROWS}; this one is {cols} by {rows}."
        width = max(1, cols)
        pieces = [words[i : i + width] for i in range(0, len(words), width)]
        return [paint(line(pieces[row]) if row < len(pieces) else Line(), cols) for row in range(rows)]


def _thumb(view: Viewport, rows: int) -> range:
    """The rows of the scroll thumb; none when everything is in sight."""
    total = len(view.lines)
    if total <= rows:
        return range(0)
    size = max(1, rows * rows // total)
    start = round(view.top / (total - rows) * (rows - size))
    return range(start, start + size)


def _cell(char: str, *part: str) -> ScreenRow:
    return assemble([(char, attribute(*part))], 1, attribute())


def _side_by_side(*parts: ScreenRow) -> ScreenRow:
    return ScreenRow(
        b"".join(part.text for part in parts),
        [run for part in parts for run in part.attributes],
        [run for part in parts for run in part.charsets],
    )


def _framed(row: ScreenRow, frame: Hashable) -> ScreenRow:
    return _side_by_side(assemble([("│ ", frame)], 2, frame), row, assemble([(" │", frame)], 2, frame))


def _edge(left: str, words: str, right: str, wide: int) -> ScreenRow:
    frame = attribute("box")
    bold = attribute(Style.TITLE, "box")
    fill = "─" * max(0, wide - 3 - columns(words))
    return assemble([(f"{left}─", frame), (words, bold), (fill + right, frame)], wide, frame)


def _edited(caption: str, editor: LineEditor, cols: int, row: int) -> tuple[ScreenRow, tuple[int, int]]:
    """A line being typed, scrolled so that its cursor is in sight."""
    before = columns(shown(editor.text[: editor.cursor]))
    room = max(1, cols - len(caption) - 1)
    left = max(0, before - room)
    typed = paint(line(editor.text), cols - len(caption), left=left)
    head = paint(line(caption), len(caption), base="prompt")
    return _side_by_side(head, typed), (min(cols - 1, len(caption) + before - left), row)
