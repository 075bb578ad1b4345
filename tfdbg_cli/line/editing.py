"""Line editing, history and completion by the readline module, which belongs to the user's program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import ModuleType, TracebackType

from tfdbg_cli.commands.completion import Completions
from tfdbg_cli.commands.typed_commands import History

_DELIMITERS = " \t\n`"


class Editing:
    """Lends readline to the prompt for one stop: history and completer are the program's own again at the end."""

    def __init__(self, history: History, completer: Callable[[str], Completions]) -> None:
        self._history = history
        self._completer = completer
        self._readline = _readline()
        self._offered: list[str] = []

    def __enter__(self) -> Editing:
        if self._readline is None:
            return self
        module = self._readline
        self._their_completer = module.get_completer()
        self._their_delimiters = module.get_completer_delims()
        self._their_history = _entries(module)
        _set_entries(module, list(self._history.entries))
        module.set_completer(self._complete)
        module.set_completer_delims(_DELIMITERS)
        _bind_tab(module, completing=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._readline is None:
            return
        module = self._readline
        module.set_completer(self._their_completer)
        module.set_completer_delims(self._their_delimiters)
        _set_entries(module, self._their_history)
        # What Tab was bound to cannot be asked for: a program with a completer completes with it.
        _bind_tab(module, completing=self._their_completer is not None)

    def _complete(self, word: str, state: int) -> str | None:
        """The `state`-th replacement of `word`. An error here would be swallowed by readline: it offers nothing."""
        if state == 0:
            assert self._readline is not None
            text = self._readline.get_line_buffer()[: self._readline.get_endidx()]
            self._offered = replacements(text, self._readline.get_begidx(), self._completer(text))
        return self._offered[state] if state < len(self._offered) else None


def replacements(text: str, begin: int, found: Completions) -> list[str]:
    """`found` as replacements of `text[begin:]`, which may begin before or after `found.start`.

    A single one gets what closes it: a backtick, or a blank behind everything but a folder.
    """
    closing = ""
    if len(found.candidates) == 1 and not found.candidates[0].endswith("/"):
        opener = text[found.start - 1 : found.start]
        closing = opener if opener and opener in "`'\"" else " "
    typed_before = text[found.start : begin] if begin > found.start else ""
    lead = text[begin : found.start]
    return [lead + name.removeprefix(typed_before) + closing for name in found.candidates]


def typed_by_now() -> str:
    """What is typed at the prompt, and not ended yet."""
    module = _readline()
    return "" if module is None else module.get_line_buffer()


def _readline() -> ModuleType | None:
    """The readline module; some builds of Python lack it."""
    try:
        import readline
    except ImportError:
        return None
    return readline


def _entries(module: ModuleType) -> list[str]:
    return [module.get_history_item(i + 1) or "" for i in range(module.get_current_history_length())]


def _set_entries(module: ModuleType, entries: list[str]) -> None:
    module.clear_history()
    for entry in entries:
        with suppress(ValueError):  # what this terminal cannot show, or holds a NUL, cannot be typed here again
            module.add_history(entry)


def _bind_tab(module: ModuleType, *, completing: bool) -> None:
    if "libedit" in (module.__doc__ or ""):
        module.parse_and_bind("bind ^I rl_complete" if completing else "bind ^I ed-insert")
    else:
        module.parse_and_bind("tab: complete" if completing else "tab: self-insert")
