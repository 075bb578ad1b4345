"""What a key means: an action, a part of a sequence or of a count, or a letter that is typed."""

from __future__ import annotations

from collections.abc import Callable

from tfdbg_cli.commands.registry import Moment
from tfdbg_cli.tui.keys.keymap import KeyContext, action_of, bindings, key_name, sequences
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.screen import Screen

# Esc quickly followed by a key arrives as Alt and that key. Outside of documents, only these are taken as two keys.
_AFTER_ESCAPE = frozenset({"meta :", "meta /", "meta @", "meta ?"})
# In a document all keys are, except those of these actions: a true Alt and letter must not resume the program, or
# change something.
_NEVER_AFTER_ESCAPE = frozenset(
    {"run", "continue", "detach", "abort", "exit", "step", "over", "finish", "until", "set", "pdb", "ui:watch"}
    | {"ui:ignore", "ui:ignore-go", "ui:shell", "ui:edit", "ui:side"}
)
_QUIT = "ctrl \\"  # anywhere else it ends a program: a signal here would leave the screen as it is
_LEAVES = "Ctrl-C twice asks how to leave."
_LINE_ENDS = frozenset({"enter", "ctrl j"})  # terminals send either
_TYPING = frozenset({KeyContext.PROMPT, KeyContext.SEARCH, KeyContext.FILTER, KeyContext.FIND})
_MOST = 9_999_999  # a count
_DIGITS = frozenset("0123456789")
# By stop, the two parts of the message about a key that works only at other stops: where it does nothing, and when.
_ELSEWHERE = {
    Moment.RUN_START: ("before a run", "r runs it; then"),
    Moment.OPENED: ("in a recording", "While a program runs"),
    Moment.STEPPING: ("in the stepper", "Once q has left it"),
}
# Actions that `.` does not repeat: moving, and opening or closing something.
_PASSING = frozenset(
    f"ui:{name}"
    for name in (
        "again", "down", "up", "page-down", "page-up", "half-down", "half-up", "top", "bottom", "left", "right",
        "scroll-left", "scroll-right", "first-in-sight", "middle-in-sight", "last-in-sight", "next-pane",
        "previous-pane", "zoom", "prompt", "search", "filter", "keys", "close", "element", "interrupt", "redraw",
        "escape", "mark", "to-mark", "undo", "bundle", "until", "break", "shell", "find", "export",
        "set",
    )
)  # fmt: skip


class Keyboard:
    """Interprets the keys of one screen in their order. `type_text` gets characters that are typed into a line."""

    def __init__(self, screen: Screen, type_text: Callable[[str], None]) -> None:
        self._screen = screen
        self._state = screen.state
        self._type_text = type_text
        self._pasting = False
        self._lines = 0  # of what is pasted, by now
        self._ended = False  # whether the last of these has come to its end
        self._before_begun: Callable[[], None] | None = None  # undoes what the first key of a sequence did by itself

    def pressed(self, key: str) -> None:
        """A key was pressed."""
        if key in {"begin paste", "end paste"}:
            self._paste(begins=key == "begin paste")
        elif self._pasting:
            self._pasted(key)
        elif key in {"focus in", "focus out"}:
            return
        elif key == _QUIT:
            self._screen.say(Message(f"{key_name(key)} does nothing here.", hint=_LEAVES, passing=True))
        elif self._state.letter:
            self._lettered(key)
        elif key == "ctrl j" and self._state.place in _TYPING:
            # Pasted by a terminal that does not say so: were it Enter, the next line would be taken for keys.
            self._type(" ")
            self._screen.say(Message("A line feed is a blank here: what is typed is one line.", passing=True))
        elif not self._counts(key):
            self._meant(key)

    def _paste(self, *, begins: bool) -> None:
        """A paste `begins`, or ends: what was pasted is one line here, which is said of several."""
        self._pasting = begins
        if begins:
            self._lines, self._ended = 1, False
            if self._state.place is KeyContext.DOCUMENT:
                self._state.place = KeyContext.PROMPT
        elif self._lines > 1:
            self._screen.say(
                Message(f"The {self._lines:,} pasted lines were joined: what is typed here is one line.")
            )

    def _pasted(self, key: str) -> None:
        """A key that was pasted; the last line may end as all others do."""
        if key in _LINE_ENDS:
            self._ended = True
        elif self._ended:
            self._lines, self._ended = self._lines + 1, False
        self._type(" " if key == "tab" or key in _LINE_ENDS else key)

    def _meant(self, key: str) -> None:
        place, moment, own = self._state.place, self._state.service.moment, self._state.own_bindings
        begun = self._begun(key)
        if not begun and (waiting := sequences(key, place, moment, own)):
            self._state.begun = key
            if alone := action_of(key, place, moment, own):
                self._before_begun = self._state.service.marked()
                self._perform(alone)
            else:
                self._screen.say(
                    Message("  ".join(f"{key_name(one.keys[0])} {one.help}" for one in waiting), passing=True)
                )
            return
        action = action_of(f"{begun} {key}" if begun else key, place, moment, own)
        if action:
            self._perform(action)
        elif begun:
            said = (
                None
                if key == "esc"
                else Message(f"{begun}{key_name(key)} does nothing here.", hint=_WAY_OUT, passing=True)
            )
            self._screen.say(said)
        elif self._came_after_escape(key):
            self.pressed("esc")
            self.pressed(key.removeprefix("meta "))
        elif place in _TYPING:
            self._type(key)
        elif place is KeyContext.DOCUMENT:
            self._screen.say(self._means_nothing(key))
        self._state.count = 0

    def _means_nothing(self, key: str) -> Message:
        """The message about a key that does nothing in a document at this stop."""
        if any(key in own.keys and not own.action for own in self._state.own_bindings):
            return Message(
                f"{key_name(key)} does nothing, by your settings.", hint="`config` shows them.", passing=True
            )
        elsewhere = next((one for one in bindings(KeyContext.DOCUMENT) if key in one.keys), None)
        where, other = _ELSEWHERE.get(self._state.service.moment, ("here", ""))
        if elsewhere is not None and other:
            hint = f"{other}: {elsewhere.help}."
            return Message(f"{key_name(key)} does nothing {where}.", hint=hint, passing=True)
        hint = "? shows the keys, : takes a command."
        return Message(f"{key_name(key)} does nothing here.", hint=hint, passing=True)

    def _came_after_escape(self, key: str) -> bool:
        """Whether to take `key`, Alt and a key without a meaning of its own, as Esc followed by that key."""
        alone = key.removeprefix("meta ")
        if alone == key or self._state.place is not KeyContext.DOCUMENT:
            return key in _AFTER_ESCAPE
        if any(key in one.keys for one in bindings(KeyContext.DOCUMENT)):  # it has one at other stops
            return False
        state = self._state
        meant = action_of(alone, state.place, state.service.moment, state.own_bindings)
        begins = sequences(alone, state.place, state.service.moment, state.own_bindings)
        return bool(meant or begins) and meant.split(" ", 1)[0] not in _NEVER_AFTER_ESCAPE

    def _lettered(self, key: str) -> None:
        """Handle the key after `m` or `'`: a character names the mark; any other key has its usual meaning."""
        action, self._state.letter = self._state.letter, ""
        if len(key) == 1 and key.isprintable():
            self._screen.perform(f"ui:{action} {key}")
            return
        self._screen.say(None)
        if key != "esc":
            self._meant(key)

    def _begun(self, key: str) -> str:
        """The first key of the sequence that `key` continues, its own action undone; empty if it continues none."""
        begun, self._state.begun = self._state.begun, ""
        back, self._before_begun = self._before_begun, None
        if begun and back is not None:  # the first key has a meaning by itself, which was carried out
            together = f"{begun} {key}"
            if not action_of(together, self._state.place, self._state.service.moment, self._state.own_bindings):
                return ""
            back()
        return begun

    def _counts(self, key: str) -> bool:
        """Whether `key` is a digit of a count, as in 5j. In the array viewer digits are ways to look."""
        state = self._state
        if state.viewer is not None:
            return False
        if key not in _DIGITS or state.place is not KeyContext.DOCUMENT or (key == "0" and not state.count):
            return False
        if state.begun or action_of(key, state.place, state.service.moment, state.own_bindings):
            return False
        state.count = min(_MOST, 10 * state.count + int(key))
        self._screen.say(Message(f"{state.count:,} times the next key", passing=True))
        return True

    def _perform(self, action: str) -> None:
        if action not in _PASSING and not action.startswith("edit:") and self._state.place is KeyContext.DOCUMENT:
            self._state.last_action = action
        self._screen.perform(action)
        self._state.count = 0

    def _type(self, key: str) -> None:
        if key == ":" and self._state.place is KeyContext.PROMPT and not self._state.prompt.editor.text:
            return  # the key that opens the prompt, once more: it begins no command
        if len(key) == 1 and key.isprintable():
            self._type_text(key)


_WAY_OUT = "? shows the keys."
