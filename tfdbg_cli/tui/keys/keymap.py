"""Every key of the full screen, as data: where it works, what it runs, and what help says about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from tfdbg_cli.commands.registry import EVERYWHERE, LIVE, LOOKING, WITH_TENSORS, Moment


class KeyContext(Enum):
    """Where the keys go. The value is its heading in help."""

    DOCUMENT = "In a document"
    PROMPT = "At the prompt"
    SEARCH = "While typing a search"
    FILTER = "While typing a filter"
    FIND = "In the finder"
    EDIT = "Editing a line (prompt, search, filter, finder)"
    KEYS = "In the list of keys"
    LEAVE = "At the question how to leave"
    GO_ON = "At the question whether to go on from what a watch has found"
    ANYWHERE = "Anywhere"


# The places whose keys count together, the nearest first.
CHAINS = {
    KeyContext.DOCUMENT: (KeyContext.DOCUMENT, KeyContext.ANYWHERE),
    KeyContext.PROMPT: (KeyContext.PROMPT, KeyContext.EDIT, KeyContext.ANYWHERE),
    KeyContext.SEARCH: (KeyContext.SEARCH, KeyContext.EDIT, KeyContext.ANYWHERE),
    KeyContext.FILTER: (KeyContext.FILTER, KeyContext.EDIT, KeyContext.ANYWHERE),
    KeyContext.FIND: (KeyContext.FIND, KeyContext.EDIT, KeyContext.ANYWHERE),
    KeyContext.KEYS: (KeyContext.KEYS, KeyContext.ANYWHERE),
    KeyContext.LEAVE: (KeyContext.LEAVE, KeyContext.ANYWHERE),
    KeyContext.GO_ON: (KeyContext.GO_ON, KeyContext.ANYWHERE),
}


@dataclass(frozen=True, slots=True)
class Binding:
    """Keys (in urwid's names) that run `action`: a command string, or `ui:NAME` for what only a screen can do.

    `pane:NAME` is for what only the pane can do that has the binding.

    `footer` is its label in the last row; bindings without one are found by `?`. `moments` are the stops at which
    the keys mean this.
    """

    place: KeyContext
    keys: tuple[str, ...]
    action: str
    help: str
    footer: str = ""
    moments: frozenset[Moment] = EVERYWHERE


def _at(place: KeyContext, *rows: tuple[str, ...]) -> tuple[Binding, ...]:
    """Bindings of `place`, each as keys, action, help and, where it has one, footer."""
    return tuple(Binding(place, _split(row[0]), *row[1:]) for row in rows)  # type: ignore[arg-type]


def _split(keys: str) -> tuple[str, ...]:
    """Keys are parted by two blanks, since a name such as `page down` holds one."""
    return tuple(" " if key == "space" else key for key in keys.split("  "))


OPENED = frozenset({Moment.OPENED})
PAUSED = frozenset({Moment.PAUSED})
AFTER_START = PAUSED | {Moment.RUN_END}
_IGNORING = LIVE | OPENED
_STEPPING = frozenset({Moment.STEPPING})
_VERBS = (
    Binding(KeyContext.DOCUMENT, ("enter",), "ui:follow", "follow the chosen link", "follow"),
    Binding(KeyContext.DOCUMENT, (".",), "step", "compute the next node", "step", _STEPPING),
    Binding(KeyContext.DOCUMENT, ("r",), "run", "run on and capture the next run", "run", LIVE),
    Binding(
        KeyContext.DOCUMENT,
        ("F",),
        "ui:watch",
        "run on until a tensor is NaN or infinite, as at the last watch",
        "to NaN",
        LIVE,
    ),
    Binding(KeyContext.DOCUMENT, ("o",), "origin", "where the first non-finite value came from", "origin", LOOKING),
    Binding(
        KeyContext.DOCUMENT,
        ("/",),
        "ui:search",
        "search as you type: a regex; in values >1e4, nan",
        "search",
    ),
    Binding(KeyContext.DOCUMENT, (":",), "ui:prompt", "type a command", "command"),
    Binding(KeyContext.DOCUMENT, ("?",), "ui:keys", "show the keys; Enter runs one", "keys"),
    Binding(KeyContext.DOCUMENT, ("q",), "exit", "ask how to leave the debugger", "leave", LIVE),
    Binding(KeyContext.DOCUMENT, ("q",), "exit", "close the recording", "leave", OPENED),
    Binding(KeyContext.DOCUMENT, ("q",), "exit", "leave the stepper", "leave", _STEPPING),
    Binding(KeyContext.DOCUMENT, ("esc",), "ui:escape", "end the search, else go back one screen", "back"),
    Binding(KeyContext.DOCUMENT, ("t",), "lt", "list the tensors", "tensors", LOOKING),
    Binding(KeyContext.DOCUMENT, ("i",), "run_info", "about this run: fetches, feeds, graph", "run info"),
    Binding(KeyContext.DOCUMENT, ("c",), "continue", "run on; stop only at an error", "continue", LIVE),
    Binding(KeyContext.DOCUMENT, ("f",), "ui:filter", "filter the rows of the list, as you type", "filter"),
)

# One key each, from any page about a tensor; words in braces stand for what is chosen, or what the page is about.
_TENSOR_KEYS = tuple(
    Binding(KeyContext.DOCUMENT, (key,), action, text, moments=moments)
    for key, action, text, moments in (
        ("K", "ui:upstream", "upstream: the bad input of this tensor, else the blamed or largest", WITH_TENSORS),
        ("P", "ps {place}", "the source at the line that made this tensor", WITH_TENSORS),
        ("T", "history {tensor}", "this tensor over the runs", WITH_TENSORS),
        ("<", "li {node}", "what this tensor was made from", WITH_TENSORS),
        (">", "lo {node}", "what was made of this tensor", WITH_TENSORS),
        ("V", "row", "the row of the batch that went bad, of inputs and labels together", WITH_TENSORS),
        ("W", "lt --role gradient -s worst", "the gradients, the worst on top", WITH_TENSORS),
        ("A", "layers", "the layers", WITH_TENSORS),
        ("O", "tree", "the ops by the scopes in their names, as a tree", WITH_TENSORS),
        ("R", "runs", "the runs", WITH_TENSORS),
        ("#", "ui:count", "how often each op type, dtype, shape, layer … stands in the list of tensors", LOOKING),
        ("D", "diff", "what differs from the run before", WITH_TENSORS),
        ("=", "ui:set", "another value for this tensor, which `again` computes with", WITH_TENSORS),
        ("B", "ui:bundle", "save this run as a bundle", WITH_TENSORS),
        ("X", "ui:export", "write this page to a file: .txt, .html, .svg, .ansi, .json, .csv", EVERYWHERE),
        ("e", "ui:edit", "edit the line of source, or the one that made this tensor, in $EDITOR", WITH_TENSORS),
        ("p", "output", "the terminal as the program left it, until a key is pressed", LIVE),
        ("!", "ui:shell", "a shell; its `exit` comes back here", EVERYWHERE),
        (".", "ui:again", "the last action or command again, but no move, mark, z, U or !", EVERYWHERE - _STEPPING),
    )
)

# In the middle of code that runs eagerly, by the letters of pdb.
_STEPS = tuple(
    Binding(KeyContext.DOCUMENT, (f"meta {key}",), action, text, moments=moments)
    for key, action, text, moments in (
        ("s", "ui:step", "run on to the next op of eager code", LIVE),
        ("n", "over", "run on to the next line of the program", LIVE),
        ("f", "finish", "run on until the layer, or else the call, is left", PAUSED),
        ("u", "ui:until", "run on to an op, a layer or a line", LIVE),
        ("b", "ui:break", "stop at an op, a layer or a line, whenever it is passed", LIVE),
        ("p", "pdb", "pdb at the call of the program; q comes back here", AFTER_START),
    )
)

BINDINGS: tuple[Binding, ...] = (
    *_VERBS,
    *_at(
        KeyContext.DOCUMENT,
        ("j  down", "ui:down", "next line; 5j is five lines, and so with other keys that move"),
        ("k  up", "ui:up", "line before"),
        ("ctrl f  page down  space", "ui:page-down", "one page down"),
        ("ctrl b  page up", "ui:page-up", "one page up"),
        ("ctrl d  d", "ui:half-down", "half a page down"),
        ("ctrl u  u", "ui:half-up", "half a page up"),
        ("g  home", "ui:top", "first row; 12g line 12"),
        ("G  end", "ui:bottom", "last line"),
        ("H", "ui:first-in-sight", "first line in sight"),
        ("M", "ui:middle-in-sight", "the line in the middle"),
        ("L", "ui:last-in-sight", "last line in sight"),
        ("right", "ui:right", "next link on this line, else scroll right"),
        ("left", "ui:left", "link before on this line, else scroll left"),
        ("l", "ui:scroll-right", "scroll right"),
        ("h", "ui:scroll-left", "scroll left"),
        ("tab", "ui:next-pane", "the other pane; where there is none, next link"),
        ("shift tab", "ui:previous-pane", "the pane before; where there is none, link before"),
        ("z", "ui:zoom", "this pane alone, or all panes again"),
        ("|", "ui:side", "the preview on the next side: auto, right, left, below, off"),
        ("+", "ui:more-preview", "the preview larger"),
        ("-", "ui:less-preview", "the preview smaller"),
        ("ctrl p", "ui:find", "find a tensor, layer, op, file, command or run by letters of its name"),
        ("ctrl o", "prev", "back to the screen before, where it was left"),
        ("ctrl n", "next", "forward again"),
        ("n", "ui:next-match", "next match of the search"),
        ("N", "ui:previous-match", "match before"),
        ("@", "ui:element", "go to an element of the array, such as @[10, 0]"),
        ("v", "ui:view", "look at the array here, or at the value of the chosen tensor, in the array viewer"),
        ("s", "ui:sort", "sort the table by its next column"),
        ("S", "ui:reverse", "sort the other way round"),
        ("w", "ui:worst", "the worst tensors on top: most NaN and infinities, then magnitude; again: as executed"),
        ("y", "ui:copy", "copy the chosen name or value to the clipboard"),
        ("Y", "ui:copy-line", "copy the line"),
        ("x", "ui:fold", "fold or unfold the scope here, in `layers` and `tree`; 3x three levels of it"),
        ("C", "ui:fold-all", "fold all scopes, in `layers` and `tree`"),
        ("E", "ui:unfold-all", "unfold all scopes"),
        ("U", "ui:undo", "undo the last filter or sort of this list"),
        ("m", "ui:mark", "mark this place by a letter: ma"),
        ("'", "ui:to-mark", "go to a mark: 'a; '' goes back to where you were before the last jump"),
        ("meta m", "ui:mouse", "mouse on or off (off: the terminal's own selection)"),
        ("f1", "help", "the manual of the commands"),
    ),
    Binding(
        KeyContext.DOCUMENT, ("I",), "ui:ignore", "let this node, layer or cause count as fine", moments=_IGNORING
    ),
    Binding(KeyContext.DOCUMENT, ("meta i",), "ui:ignore-go", "the same, and run on at once", moments=LIVE),
    Binding(
        KeyContext.DOCUMENT,
        ("[",),
        "older",
        "the same screen of the run before; of `row`, the bad row before",
        moments=WITH_TENSORS,
    ),
    Binding(
        KeyContext.DOCUMENT,
        ("]",),
        "newer",
        "the same screen of the run after; of `row`, the bad row after",
        moments=WITH_TENSORS,
    ),
    Binding(KeyContext.DOCUMENT, ("{",), "older --same", "of the run of this function before", moments=WITH_TENSORS),
    Binding(KeyContext.DOCUMENT, ("}",), "newer --same", "of the run of this function after", moments=WITH_TENSORS),
    Binding(KeyContext.DOCUMENT, ("] b",), "ui:next-bad", "next tensor with NaN or infinity", "", WITH_TENSORS),
    Binding(KeyContext.DOCUMENT, ("[ b",), "ui:previous-bad", "the one before", "", WITH_TENSORS),
    *_TENSOR_KEYS,
    *_STEPS,
    *_at(
        KeyContext.PROMPT,
        ("enter", "ui:submit", "run the command", "run"),
        ("tab", "ui:complete", "complete; again, choose among the candidates", "complete"),
        ("shift tab", "ui:complete-back", "the candidate before"),
        ("up  ctrl p", "ui:history-back", "the command before that begins so", "history"),
        ("down  ctrl n", "ui:history-forward", "the command after it"),
        ("esc", "ui:close-prompt", "back to the document; what was typed is gone", "back"),
        ("page down", "ui:page-down", "one page down in the document"),
        ("page up", "ui:page-up", "one page up in the document"),
    ),
    *_at(
        KeyContext.SEARCH,
        ("enter", "ui:search-done", "stay at the match", "stay"),
        ("down", "ui:next-match", "next match", "next"),
        ("up", "ui:previous-match", "match before"),
        ("esc", "ui:search-cancel", "back to where the search began", "cancel"),
    ),
    *_at(
        KeyContext.FILTER,
        ("enter", "ui:filter-keep", "keep the rows that are left; Ctrl-O goes back to all", "keep"),
        ("esc", "ui:filter-cancel", "back to the list as it was", "cancel"),
        ("down", "ui:down", "next row"),
        ("up", "ui:up", "row before"),
        ("page down", "ui:page-down", "one page down in the list"),
        ("page up", "ui:page-up", "one page up in the list"),
    ),
    *_at(
        KeyContext.FIND,
        ("enter", "ui:follow", "go there", "go"),
        ("down  ctrl n  tab", "ui:down", "next hit", "next"),
        ("up  ctrl p  shift tab", "ui:up", "hit before"),
        ("page down", "ui:page-down", "one page down"),
        ("page up", "ui:page-up", "one page up"),
        ("esc", "ui:close", "close", "close"),
    ),
    *_at(
        KeyContext.EDIT,
        ("left  ctrl b", "edit:left", "one character left"),
        ("right  ctrl f", "edit:right", "one character right"),
        ("home  ctrl a", "edit:start", "start of the line"),
        ("end  ctrl e", "edit:end", "end of the line"),
        ("meta b  ctrl left  meta left", "edit:word-left", "one word left"),
        ("meta f  ctrl right  meta right", "edit:word-right", "one word right"),
        ("backspace  ctrl h", "edit:erase", "erase the character before"),
        ("delete  ctrl d", "edit:erase-ahead", "erase the character under the cursor"),
        ("ctrl w", "edit:erase-word", "erase back to the blank"),
        ("meta backspace", "edit:erase-part", "erase the part of a name before"),
        ("meta d", "edit:erase-word-ahead", "erase the word ahead"),
        ("ctrl u", "edit:erase-start", "erase to the start"),
        ("ctrl k", "edit:erase-end", "erase to the end"),
        ("ctrl y", "edit:yank", "put back what was erased last"),
    ),
    *_at(
        KeyContext.KEYS,
        ("j  down  tab", "ui:down", "next key"),
        ("k  up  shift tab", "ui:up", "key before"),
        ("ctrl f  page down  space", "ui:page-down", "one page down"),
        ("ctrl b  page up", "ui:page-up", "one page up"),
        ("g  home", "ui:top", "first key"),
        ("G  end", "ui:bottom", "last key"),
        ("enter", "ui:follow", "do what the key does", "do it"),
        ("esc  q  ?", "ui:close", "close", "close"),
    ),
    Binding(KeyContext.LEAVE, ("c",), "ui:continue", "go on until an error"),
    Binding(KeyContext.LEAVE, ("d",), "ui:detach", "go on undebugged"),
    Binding(KeyContext.LEAVE, ("a",), "ui:abort", "abort, as by Ctrl-C"),
    Binding(KeyContext.LEAVE, ("esc", "q"), "ui:close", "stay here"),
    *_at(
        KeyContext.LEAVE,
        ("j  down  tab", "ui:down", "next answer"),
        ("k  up  shift tab", "ui:up", "answer before"),
        ("enter", "ui:follow", "give this answer", "choose"),
    ),
    Binding(KeyContext.GO_ON, ("esc", "q"), "ui:close", "stay here"),
    Binding(KeyContext.GO_ON, ("b",), "ui:save-first", "save the run as a bundle first"),
    Binding(KeyContext.GO_ON, ("y",), "ui:go-on", "go on, without this run"),
    *_at(
        KeyContext.GO_ON,
        ("j  down  tab", "ui:down", "next answer"),
        ("k  up  shift tab", "ui:up", "answer before"),
        ("enter", "ui:follow", "give this answer", "choose"),
    ),
    *_at(
        KeyContext.ANYWHERE,
        (
            "ctrl c",
            "ui:interrupt",
            "stop what the screen does or clear the line; twice: ask how to leave; then: abort",
        ),
        ("ctrl l", "ui:redraw", "draw the screen anew"),
    ),
)

ACTIONS = frozenset(binding.action.removeprefix("ui:") for binding in BINDINGS if binding.action.startswith("ui:"))
"""What a screen can do, and no command: what may stand behind `ui:`."""

_SHOWN = {
    "page down": "PgDn",
    "page up": "PgUp",
    " ": "Space",
    "esc": "Esc",
    "meta backspace": "Alt-Backspace",
    "shift tab": "Shift-Tab",
}
_FIRSTS = frozenset("[]")  # keys that may begin a sequence of two, written as "] n"
_ARROWS = {"up": "↑", "down": "↓", "left": "←", "right": "→"}


def key_name(key: str) -> str:
    """The key as people write it: Ctrl-F, PgDn, ↑."""
    if key in _SHOWN:
        return _SHOWN[key]
    parts = [part for part in key.split(" ") if part]
    if key in _FIRSTS or (parts and parts[0] in _FIRSTS):
        return "".join(parts)
    last = _ARROWS.get(parts[-1], parts[-1] if len(parts[-1]) == 1 else parts[-1].capitalize())
    modifiers = ["Alt" if part == "meta" else part.capitalize() for part in parts[:-1]]
    if modifiers and len(last) == 1 and last.isalpha():
        last = last.upper()
    return "-".join([*modifiers, last])


def bindings(place: KeyContext, moment: Moment | None = None, own: tuple[Binding, ...] = ()) -> Iterator[Binding]:
    """The bindings that work at `place`, those of the contexts behind it included, at `moment` (None: at any).

    `own` are those of the pane with the focus and of the user. They come first and shadow others with the same keys;
    a sequence of two keys also shadows other meanings of its first one.
    """
    chain = CHAINS.get(place, (place,))
    first = [binding for binding in own if binding.place in chain and _means_it(binding, moment)]
    yield from (binding for binding in first if binding.action)  # an empty action only disables the keys
    taken = {key for binding in first for key in binding.keys}
    taken |= {key[0] for key in taken if key[0] in _FIRSTS}
    for link in chain:
        for binding in BINDINGS:
            left = tuple(key for key in binding.keys if key not in taken)
            if binding.place is link and left and _means_it(binding, moment):
                yield binding if left == binding.keys else replace(binding, keys=left)


def _means_it(binding: Binding, moment: Moment | None) -> bool:
    return moment is None or moment in binding.moments


def sequences(first: str, place: KeyContext, moment: Moment, own: tuple[Binding, ...] = ()) -> list[Binding]:
    """The bindings whose keys are a sequence that `first` begins."""
    if first not in _FIRSTS:
        return []
    return [one for one in bindings(place, moment, own) if any(key.startswith(f"{first} ") for key in one.keys)]


def action_of(key: str, place: KeyContext, moment: Moment, own: tuple[Binding, ...] = ()) -> str:
    """What `key` runs at `place`; empty when it means nothing there."""
    return next((binding.action for binding in bindings(place, moment, own) if key in binding.keys), "")


def key_for(action: str, place: KeyContext, moment: Moment, own: tuple[Binding, ...] = ()) -> str:
    """The key that runs `action` at `place`, as people write it; empty where none does."""
    keys = (binding.keys[0] for binding in bindings(place, moment, own) if binding.action == action)
    return next(map(key_name, keys), "")
