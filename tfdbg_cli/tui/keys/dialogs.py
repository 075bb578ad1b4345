"""What opens over the document: the list of keys, and the questions how to leave and whether to go on."""

from __future__ import annotations

from tfdbg_cli.commands.registry import Moment
from tfdbg_cli.document.definitions import Definitions
from tfdbg_cli.document.document import Document, Text, text_document
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.tui.keys.keymap import BINDINGS, Binding, KeyContext, bindings, key_name

_KEYS = 20  # columns for the keys of one binding
_ANSWER = 8  # and for those of an answer

# urwid's screen handles this one itself.
SUSPEND = ("Ctrl-Z", "suspend the program; `fg` in the shell comes back here")


def _answers(place: KeyContext) -> tuple[Binding, ...]:
    """The answers to the question at `place`."""
    here = (binding for binding in BINDINGS if binding.place is place)
    return tuple(one for one in here if not one.footer and one.action not in {"ui:down", "ui:up"})


LEAVING = _answers(KeyContext.LEAVE)
"""The answers to the question how to leave."""


def keys_of(binding: Binding) -> str:
    """The keys of `binding`, for reading."""
    return ", ".join(key_name(key) for key in binding.keys)


def key_list(moment: Moment, own: tuple[Binding, ...] = ()) -> Document:
    """The keys that work in a document at this kind of stop, each a link that does what the key does.

    `own` are those of the pane with the focus.
    """
    here = [
        _pair(keys_of(binding), binding.help, binding.action if binding.action != "ui:keys" else "")
        for binding in bindings(KeyContext.DOCUMENT, moment, own)
    ]
    typing = [
        _pair(keys_of(binding), binding.help)
        for binding in BINDINGS
        if binding.place in {KeyContext.PROMPT, KeyContext.EDIT}
    ]
    blocks = (
        Definitions((*here, _pair(*SUSPEND)), _KEYS),
        Text((EMPTY_LINE, line(Span("At the prompt", Style.HEADING)))),
        Definitions(tuple(typing), _KEYS),
    )
    return Document("keys", blocks, dict, "Keys")


def _pair(keys: str, text: str, link: str = "") -> tuple[Span, Span]:
    return Span(keys, Style.KEY, link), Span(text)


def _answer(keys: str, text: str, link: str) -> Line:
    return line(Span(keys, Style.KEY, link), Span(" " * (_ANSWER - len(keys))), Span(text))


def leave_question() -> Document:
    """How to leave: each answer a link."""
    rows = [_answer(keys_of(binding), binding.help, binding.action) for binding in LEAVING]
    return text_document("leave", *rows, title="How do you want to leave?")


def going_on_question() -> Document:
    """Whether to go on from a run that a watch stopped at, which then is gone: each answer a link."""
    rows = [_answer(keys_of(one), one.help, one.action) for one in _answers(KeyContext.GO_ON)]
    return text_document("going-on", *rows, title="This run is not saved. Go on?")
