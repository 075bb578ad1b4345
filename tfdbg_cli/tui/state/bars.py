"""The rows around the document, as lines: title, breadcrumbs, candidates, status, footer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tfdbg_cli.commands.registry import Moment
from tfdbg_cli.commands.service.pages import Pages
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.document.cells import clip, clip_start
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.plain_text import printable
from tfdbg_cli.tui.keys.keymap import Binding, KeyContext, bindings, key_name
from tfdbg_cli.tui.reading.paint import columns
from tfdbg_cli.tui.reading.viewport import Viewport
from tfdbg_cli.tui.reading.wrap import wrap

MESSAGE_ROWS = 3
_WAYS_OUT = frozenset({"ui:keys", "ui:escape"})
_CRUMB = 32  # columns that the breadcrumb of another page may take
_LEAST = 8  # columns of what a page is about that are worth more than the beginning of its command


@dataclass(frozen=True, slots=True)
class Message:
    """One thing to say in the status row; `error` makes it red, `hint` is the way out.

    One in `passing` only echoes a key, and is nothing that anybody wants to read again.
    """

    text: str
    error: bool = False
    hint: str = ""
    passing: bool = False


def title_part(service: PromptService) -> str:
    """The palette name of the title: what kind of stop this is."""
    return f"title {service.kind}"


def title(service: PromptService, cols: int, *, printed: bool = False) -> Line:
    """The title of the stop, and at the right which graph is shown.

    What is ignored, and that the program `printed` something, is never cut off; why it stopped only by these.
    """
    call, *reason = [span.text for span in service.title.spans]
    why = "".join(reason).removesuffix(service.ignored)
    tail = service.ignored + (" · output (p)" if printed else "")
    room = cols - columns(tail)
    left = clip(f" {clip(call, max(room // 3, room - 2 - columns(why)))}{why}", room) + tail
    kind = service.graph
    gap = cols - columns(left) - columns(kind) - 1
    return line(f"{left}{' ' * gap}{kind}" if kind and gap > 2 else clip(left, cols))


def crumbs(pages: Pages, cols: int) -> Line:
    """The way here, each screen a link; what lies ahead is dim. The oldest give way when there is no room.

    The page on show has all the room that it needs: its name is told as far as the screen goes.
    """
    root = pages.current.label
    spans = [Span(f" {root}", Style.PLAIN, "ui:page 0")]
    tail: list[Span] = []
    room = cols - columns(root) - 5
    alone = room - 3 if pages.at else room + 1  # beside ` › …` for the pages before, if there are any
    for at in range(pages.at, -1, -1):
        text = _crumb(pages.all[at].command, _CRUMB if at != pages.at else max(1, alone))
        if columns(text) + 3 > room and tail:
            tail[:0] = [Span(" › "), Span("…", Style.DIM)]
            break
        room -= columns(text) + 3
        style = Style.TITLE if at == pages.at else Style.PLAIN
        tail[:0] = [Span(" › "), Span(text, style, f"ui:page {at}")]
    for at in range(pages.at + 1, len(pages.all)):
        text = _crumb(pages.all[at].command, _CRUMB)
        if columns(text) + 3 > room:
            break
        room -= columns(text) + 3
        tail += [Span(" › ", Style.DIM), Span(text, Style.DIM, f"ui:page {at}")]
    return Line((*spans, *tail))


def _crumb(command: str, room: int) -> str:
    """`command` in at most `room` columns; of a name alone behind its verb the end is kept, where names differ."""
    text = printable(command)
    verb, _, about = text.partition(" ")
    left = room - columns(verb) - 1
    if columns(text) <= room or left < _LEAST or " " in about:
        return clip(text, room)
    return f"{verb} {clip_start(about, left)}"


@lru_cache(maxsize=64)
def footer(
    place: KeyContext, moment: Moment, cols: int, own: tuple[Binding, ...] = (), *, escapes: bool = True
) -> Line:
    """The most useful keys here, as many as there is room for; a click does what the key does.

    Esc is among them only if it `escapes`: where there is something that it ends or goes back to. For help and the
    way back there is room in any case, where the pane has keys of its own for them.
    """
    told = [one for one in bindings(place, moment, own) if one.footer and (escapes or one.action != "ui:escape")]
    shown = [one for one in told if one in own and one.action in _WAYS_OUT]
    room = cols - sum(map(_width, shown))
    for binding in told:
        if binding in shown:
            continue
        room -= _width(binding)
        if room < 0:
            break
        shown.append(binding)
    spans: list[Span] = []
    for binding in sorted(shown, key=told.index):
        key = key_name(binding.keys[0])
        link = binding.action if place is KeyContext.DOCUMENT else ""
        spans += [Span(" "), Span(key, Style.KEY, link), Span(f" {binding.footer} ", Style.PLAIN, link)]
    return Line(tuple(spans))


def _width(binding: Binding) -> int:
    """The columns that it takes in the footer."""
    return columns(key_name(binding.keys[0])) + len(binding.footer) + 3


def position(view: Viewport, mouse: bool) -> Line:
    """Where the user is: array element, line, part of the document, columns scrolled off, mouse off."""
    total = len(view.lines)
    parts = []
    if not mouse:
        parts.append("mouse off")
    if view.left:
        parts.append(f"column {view.left + 1}")
    element = view.line(view.selected).element if total else None
    if element is not None:
        parts.append(f"@{list(element)}")
    if total:
        parts.append(f"{view.selected + 1:,}/{total:,}")
        parts.append(_share(view, total))
    return line("  ".join(parts) + " ")


def _share(view: Viewport, total: int) -> str:
    if total <= view.rows:
        return "all"
    if view.top == 0:
        return "top"
    last = total - view.rows
    return "end" if view.top >= last else f"{view.top / last:.0%}"


def status(message: Message | None, otherwise: str, where: Line, cols: int, most: int = MESSAGE_ROWS) -> list[Line]:
    """The message in at most `most` rows, or what Enter would run with the position at the right."""
    if message is not None:
        words = f"{message.text} {message.hint}".strip()
        rows = _rows(words, cols - 2, most)
        if len(rows) > 1 or columns(rows[0]) + columns(where.text) + 4 > cols:
            return [line(f" {row}") for row in rows]
        otherwise = rows[0]
    gap = cols - columns(where.text) - 1
    left = clip(f" {printable(otherwise)}", max(0, gap))
    return [line(left + " " * (gap - columns(left) + 1), *where.spans)]


def _rows(text: str, cols: int, most: int) -> list[str]:
    """`text` in at most `most` rows of `cols` columns; what does not fit is elided."""
    rows = [row.text for row in wrap(line(text), cols)]
    return rows if len(rows) <= most else [*rows[: most - 1], clip(" ".join(rows[most - 1 :]), cols)]


def candidates(names: Sequence[str], picked: int, left_out: int, cols: int, rows: int) -> list[Line]:
    """The candidates in at most `rows` rows of columns; the row of the picked one is always among them."""
    if not names or rows < 1:
        return []
    shown_names = [clip(printable(name), cols - 3) for name in names]
    width = min(max(map(columns, shown_names)), cols - 3) + 2
    across = max(1, (cols - 1) // width)
    first = max(0, picked // across - rows + 1) if picked >= 0 else 0
    result: list[Line] = []
    for start in range(first * across, len(names), across):
        if len(result) == rows:
            break
        spans = [Span(" ")]
        for i in range(start, min(start + across, len(names))):
            text = shown_names[i]
            spans += [Span(text, Style.MARK if i == picked else Style.PLAIN), Span(" " * (width - columns(text)))]
        result.append(Line(tuple(spans)))
    hidden = len(names) + left_out - min(len(names), (first + len(result)) * across)
    if hidden:
        note = f"… {hidden:,} more "
        last = result[-1].text.rstrip()
        if columns(last) + columns(note) + 2 <= cols:
            gap = " " * (cols - columns(last) - columns(note))
            result[-1] = Line((*_trimmed(result[-1], columns(last)), Span(gap), Span(note, Style.DIM)))
    return result


def _trimmed(row: Line, cols: int) -> list[Span]:
    """The spans of `row` without the blanks behind column `cols`."""
    kept, taken = [], 0
    for span in row.spans:
        width = columns(span.text)
        if taken + width > cols:
            span = Span(clip(span.text, cols - taken).rstrip("…"), span.style)
        kept.append(span)
        taken += width
        if taken >= cols:
            break
    return kept
