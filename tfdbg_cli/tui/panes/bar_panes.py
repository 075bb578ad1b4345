"""The rows above and below the middle of the screen, each a pane."""

from __future__ import annotations

from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.plain_text import printable
from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.reading.paint import columns, link_at, links_of, paint, side_by_side
from tfdbg_cli.tui.state import bars
from tfdbg_cli.tui.state.line_editor import LineEditor
from tfdbg_cli.tui.state.pane import Drawing, Pane
from tfdbg_cli.tui.state.state import ScreenState

_CANDIDATE_ROWS = 4
_FILTER = " filter> "


class _Bar(Pane):
    """One row of text; a click on a link follows it."""

    def __init__(self, state: ScreenState, actions: Actions) -> None:
        super().__init__()
        self._state = state
        self._actions = actions
        self._shown = Line()

    def _content(self, cols: int) -> tuple[Line, str]:
        """The text at `cols` columns, and the palette name under it."""
        raise NotImplementedError

    def draw(self, cols: int, rows: int) -> Drawing:
        self._shown, base = self._content(cols)
        return Drawing([paint(self._shown, cols, base=base, follow=False)])

    def press(self, col: int, row: int) -> None:
        found = link_at(links_of(self._shown), col)
        if found is not None:
            self._actions.follow(found[1])


class TitleBar(_Bar):
    """Which stop this is, and why."""

    def _content(self, cols: int) -> tuple[Line, str]:
        service = self._state.service
        return bars.title(service, cols, printed=self._state.printed), bars.title_part(service)


class Crumbs(_Bar):
    """The way to the page on show."""

    def _content(self, cols: int) -> tuple[Line, str]:
        return bars.crumbs(self._state.pages, cols), "crumbs"


class Footer(_Bar):
    """The most useful keys; where what is typed above is wrong, a mark under the place."""

    def _content(self, cols: int) -> tuple[Line, str]:
        state = self._state
        if state.filter is not None and state.filter.wrong_at is not None:
            editor = state.filter.editor
            left = _scrolled(_FILTER, editor, cols)
            at = len(_FILTER) + columns(printable(editor.text[: state.filter.wrong_at])) - left
            return line(" " * min(max(len(_FILTER), at), cols - 1) + "^"), "message error"
        keys = bars.footer(state.place, state.service.moment, cols, state.own_bindings, escapes=state.escapes)
        return keys, "footer"


class Candidates(Pane):
    """What could complete the command that is typed."""

    def __init__(self, state: ScreenState) -> None:
        super().__init__()
        self._state = state

    def wanted(self, cols: int) -> int:
        """The rows that it would like."""
        names = self._state.prompt.candidates
        return len(bars.candidates(names, -1, 0, cols, _CANDIDATE_ROWS)) if cols > 4 else 0

    def draw(self, cols: int, rows: int) -> Drawing:
        prompt = self._state.prompt
        names = bars.candidates(prompt.candidates, prompt.picked, prompt.left_out, cols, rows)
        return Drawing([paint(name, cols, base="candidate") for name in names])


class StatusBar(Pane):
    """A message, or what Enter would do, and where the user is in the document."""

    def __init__(self, state: ScreenState) -> None:
        super().__init__()
        self._state = state

    def wanted(self, cols: int) -> int:
        """The rows that it would like."""
        return len(bars.status(self._state.message, "", self._position, cols))

    @property
    def _position(self) -> Line:
        viewer = self._state.viewer
        if viewer is not None:
            return line(viewer.position + " ")
        return bars.position(self._state.read.view, self._state.mouse)

    def draw(self, cols: int, rows: int) -> Drawing:
        message = self._state.message
        base = "status" if message is None else "message error" if message.error else "message"
        wrong = self._state.filter.wrong if self._state.filter is not None else ""
        if message is None and (wrong or self._state.seeker.failed):
            base = "message error"
        where = self._position
        otherwise = self._otherwise(cols - columns(where.text) - 2)
        status = bars.status(message, otherwise, where, cols, min(rows, bars.MESSAGE_ROWS))
        return Drawing([paint(item, cols, base=base) for item in status])

    def _otherwise(self, cols: int) -> str:
        """What it says when there is no message, in `cols` columns if that can be."""
        state = self._state
        if state.dialog is not None:
            return state.dialog.status
        if state.place is KeyContext.PROMPT and state.hint:
            return state.hint
        if state.viewer is not None:
            return state.viewer.status
        if state.filter is not None:
            meanwhile = "looking for rows …" if state.filter.running else state.read.document.title
            return state.filter.wrong or state.filter.offer or meanwhile
        if state.pending is not None:
            return state.pending.status(cols)
        seeker = state.read.seeker
        if seeker.active and seeker.notice:
            return seeker.notice
        link = state.read.view.chosen
        if link is not None and not link.link.startswith("ui:"):
            return f"Enter: {link.link}"
        return state.read.document.title


class PromptLine(Pane):
    """The line in which a command or a search is typed."""

    def __init__(self, state: ScreenState, actions: Actions) -> None:
        super().__init__()
        self._state = state
        self._actions = actions

    def draw(self, cols: int, rows: int) -> Drawing:
        state = self._state
        if state.filter is not None:
            return _edited(_FILTER, state.filter.editor, cols)
        if state.place is KeyContext.SEARCH:
            return _edited(" /", state.sought, cols)
        if state.place is KeyContext.PROMPT:
            return _edited(" tfdbg> ", state.prompt.editor, cols)
        kept = state.prompt.editor.text
        # Nothing that looks like a prompt: what is typed here are keys.
        words = f"Press : to go on with  {printable(kept)}" if kept else "To type a command, press : first"
        return Drawing([paint(line(Span(f" {words}", Style.DIM)), cols)])

    def press(self, col: int, row: int) -> None:
        self._actions.perform("ui:prompt")


def _edited(caption: str, editor: LineEditor, cols: int) -> Drawing:
    """A line being typed, scrolled so that its cursor is in sight."""
    before = columns(printable(editor.text[: editor.cursor]))
    left = _scrolled(caption, editor, cols)
    typed = paint(line(editor.text), cols - len(caption), left=left)
    head = paint(line(caption), len(caption), base="prompt")
    return Drawing([side_by_side(head, typed)], (min(cols - 1, len(caption) + before - left), 0))


def _scrolled(caption: str, editor: LineEditor, cols: int) -> int:
    """How many columns of the text do not fit before its cursor."""
    room = max(1, cols - len(caption) - 1)
    return max(0, columns(printable(editor.text[: editor.cursor])) - room)
