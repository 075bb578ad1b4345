"""What to type here in the place of what pdb, gdb and IPython take, and of what is a key on the full screen."""

from __future__ import annotations

import re
from collections.abc import Sequence

# What shows a value there, with the Python that tells the same.
_SHOWING = {
    **dict.fromkeys(("p", "pp", "po", "print", "inspect", "display", "disp", "printf"), "{}"),
    **dict.fromkeys(("whatis", "ptype", "type"), "type({})"),
}
_CALLS = "`where` lists the calls of Python that run, `up` and `down` go from one to the other."
_LINE = "`locals` shows the line that runs, and the names there; `ps FILE` prints a source file."
_NAMES = "`locals` shows the names of the call, with what they hold; `ri` tells of the run."
_STOPS = "`until PLACE` stops once and `break PLACE` each time; `break` lists them, `delete N` drops one."
_ENDS = "`abort` ends the program, `detach` lets it go on by itself, `exit` asks which."
_MADE = "`ni -t NODE` lists the calls that made a node."
_FILES = "`ls` lists the source files, `ps FILE` prints one."
# By what is typed: what to type while Python of the program is at hand, and else.
_HABITS = {
    **dict.fromkeys(("w", "u", "d", "stack", "backtrace"), (_CALLS, _MADE)),
    **dict.fromkeys(("f", "frame"), ("`where` numbers the calls of Python that run, `locals N` goes to one.", _MADE)),
    **dict.fromkeys(("l", "list", "longlist"), (_LINE, _FILES)),
    **dict.fromkeys(("a", "args", "i", "info"), (_NAMES, "`ri` tells of the run, `pf` of what it was fed.")),
    **dict.fromkeys(("tbreak", "tb", "unt", "cl", "clear", "disable", "condition"), (_STOPS, "")),
    **dict.fromkeys(("fin", "return", "ret"), ("`finish` runs on until the call is left.", "")),
    **dict.fromkeys(("kill", "k", "stop", "exit()", "quit()"), (_ENDS, "`exit` leaves.")),
    **dict.fromkeys(("interact", "ipython"), ("`pdb` and its `interact` take Python line by line.", "")),
    "o": ("`origin` goes back to the first NaN or infinity.",) * 2,
    "F": (
        "`run -f has_inf_or_nan` runs on until a tensor is NaN or infinite.",
        "`runs` lists the runs, `origin` tells where a NaN of one came from.",
    ),
}
_INFO = {
    **dict.fromkeys(("b", "break", "breakpoints"), _STOPS),
    **dict.fromkeys(("stack", "frame", "threads"), _CALLS),
    **dict.fromkeys(("line", "source"), _LINE),
}
# By the command of ours that takes no such words: what to type for it with a number, {} being what was typed.
_BEHIND = {
    "step": "`step` goes one op on; `until PLACE` stops further on.",
    "over": "`over` goes one line on; `until PLACE` stops further on.",
    "finish": "`finish` leaves one layer or call; `until PLACE` stops further on.",
    "continue": "`run -t {}` stops at the end of a later run, `until PLACE` at a place.",
    "frames": "`frames` lists all calls; `locals {}` goes to one of them.",
    "delete": "One is dropped at a time: `delete {}`.",
    "next": "`next` goes one screen on; in a program that runs `over` goes on to its next line.",
}
_PRINTED = re.compile(r"(?:pp?rint|print|display)\((.*)\)$", re.DOTALL)
_PYTHON = re.compile(r"([A-Za-z_]\w*)(?:\.[A-Za-z_]|\[|\(|\s*[-+*/%@]?=|\s*[<>]|\s+[-+*/%@]\s|[+*%@]|$)")
_TENSOR = re.compile(r"[A-Za-z.][\w./>-]*:\d+$|[A-Za-z.][\w.-]*(/[\w.-]+)+$")


def debugger_habit(name: str, rest: Sequence[str], *, live: bool) -> str:
    """What to type in the place of `name` and the words behind it; empty where they are no habit.

    `live` says that Python of the program is at hand: it runs, and stands at a stop.
    """
    text = " ".join((name, *rest))
    if text in _HABITS:
        return _HABITS[text][not live]
    if printed := _PRINTED.match(text):
        return _shown(printed[1], "{}", live)
    shows = name.partition("/")[0] if rest else name  # gdb takes a format: p/x
    if shows in _SHOWING:
        return _shown(" ".join(rest[1:] if rest and rest[0].startswith("/") else rest), _SHOWING[shows], live)
    if name in _HABITS:
        known = _INFO.get(rest[0], "") if rest and live and name in {"i", "info"} else ""
        return known or _HABITS[name][not live]
    if _TENSOR.match(text):
        return f"`pt {text}` prints a tensor, `ni {text.partition(':')[0]}` tells of a node."
    python = _PYTHON.match(text)
    if python is None or (text == python[1] and len(text) > 1):
        return ""
    return _shown(text, "{}", live) + (" `help` lists the commands." if len(text) == 1 else "")


def habit_behind(command: str, words: Sequence[str]) -> str:
    """What to type for `words` behind `command`, which takes none of them; empty where they are no habit."""
    return _BEHIND.get(command, "").format(words[0] if words[0].isdecimal() else "N")


def _shown(what: str, as_python: str, live: bool) -> str:
    """How a value is shown; a text that may name a tensor is taken for both."""
    asked = what or ("NAME" if as_python == "{}" else "x")
    name = re.match(r"[\w./:-]*", asked)
    tensor = name[0].partition(".")[0] if name and name[0] == asked else ""
    ways = [f"`pt {tensor}` prints a tensor"] if tensor else []
    if live:
        ways.append(f"`py {as_python.format(asked)}` asks Python where the program stands")
    elif not tensor or not what:
        ways.append("`ev EXPRESSION` computes with tensors in backticks")
    return f"{', '.join(ways)}."
