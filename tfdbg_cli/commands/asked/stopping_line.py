"""A line of source at which the program is to stop, as far as its files are known here."""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Collection, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from tfdbg_cli.commands.asked.computing_line import computing_line
from tfdbg_cli.commands.asked.running_line import running_line, statement_at
from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.pausing import Place
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.sources import is_library
from tfdbg_cli.model.units import count_text
from tfdbg_cli.plain_files import opened_plain
from tfdbg_cli.plain_text import printable
from tfdbg_cli.process.module_files import modules_with_files

_AS_A_SLIP = 0.7  # how alike two names of files are of which one is the other with a slip, at least
_NUMBER = re.compile(r"\d+")
_LONGEST_SOURCE = 1 << 26  # bytes
_SHOWN = 40  # characters of a line at which nothing runs

_Text = Sequence[str]  # the lines of a file; none where it is not at hand


def stopping_line(context: Context, place: Place, current: str) -> Place:
    """`place`, with the end of its file's name where the user left that out; `current` is the file on show.

    Of a call over several lines, at some of which only its arguments stand, the line is that at which it is called.
    A file that is not known yet may be one that the program loads later.

    Raises:
        TfdbgError: no file that it may mean has such a line, nothing runs there, or the file's name is none, or that
            of one with a slip.

    """
    known = _files(context)
    texts = _texts(context, place.file, known)
    if not texts and not Path(place.file).suffix and "*" not in place.file:
        place = replace(place, file=f"{place.file}.py")
        texts = _texts(context, place.file, known)
        if not texts:
            _require_no_slip(place, known)
            raise _not_known(place, "A file is named by the end of its path, such as train.py:12.")
    if not texts:
        _require_no_slip(place, known)
    elif all(0 < len(text) < place.line for text in texts):
        only = f"{place.file} has {count_text(max(map(len, texts)), 'line')}."
        raise TfdbgError(only, hint=f"There is no line {place.line}.")
    elif all(len(text) >= place.line for text in texts):
        _require_running(place, texts, current)
        return _where_it_computes(place, texts)
    return place


def _files(context: Context) -> set[str]:
    """The source files that are known at this stop: those in tracebacks, and of the modules that are loaded."""
    files = {frame.place.file for frame in context.run.frames} if context.runs else set()
    files |= {frame.file for traceback in context.tracebacks.values() for frame in traceback}
    is_elsewhere = isinstance(context.stop, RunEnd) and context.stop.sent
    loaded = () if is_elsewhere else (file for file, _ in modules_with_files())
    return files | {file for file in loaded if file.endswith(".py") and not is_library(file)}


def _texts(context: Context, name: str, known: Collection[str]) -> Sequence[_Text]:
    """The lines of each file that `name` may mean, of the user's own where there are such.

    Where none of the `known` files is called so, those are meant that the program could load.
    """
    wanted = Path(name).parts
    meant = [file for file in known if Path(file).parts[-len(wanted) :] == wanted]
    if not meant:
        return [_text_of(path) for path in _loadable(name, known)]
    own = [file for file in meant if not is_library(file)]
    return [context.sources.lines(file) or () for file in own or meant]


def _loadable(name: str, known: Collection[str]) -> Sequence[Path]:
    """The files called `name` where the program loads such from, and beside those that are `known`."""
    folders = {*sys.path, ".", *(str(Path(file).parent) for file in known if not is_library(file))}
    return [path for path in (Path(folder, name) for folder in sorted(folders)) if path.is_file()]


def _text_of(path: Path) -> _Text:
    """The lines of a Python file that the program has not loaded, so that nothing else may keep them."""
    try:
        with opened_plain(path, _LONGEST_SOURCE) as (file, _):
            content = io.BytesIO(file.read())
        encoding, _ = tokenize.detect_encoding(content.readline)
        content.seek(0)
        return io.TextIOWrapper(content, encoding).readlines()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ()


def _require_running(place: Place, texts: Sequence[_Text], current: str) -> None:
    """Raises TfdbgError where nothing runs at the line of `place` in any of the `texts`: no program stops there."""
    meant = sorted({running_line(text, place.line) for text in texts})
    if place.line in meant:
        return
    held = {text[place.line - 1].strip() for text in texts}
    what = printable(held.pop()[:_SHOWN]) if len(held) == 1 else ""
    lines = [replace(place, line=line) for line in meant if line]
    ways = [str(one).removeprefix(f"{current}:") for one in lines]
    raise TfdbgError(
        f"Nothing runs at line {place.line} of {place.file}" + (f": `{what}`." if what else "."),
        hint=f"Did you mean {' or '.join(ways)}?" if ways else "Nothing runs behind it, either.",
    )


def _where_it_computes(place: Place, texts: Sequence[_Text]) -> Place:
    """`place` at the line of its statement at which ops run; as it is where the `texts` tell different lines."""
    meant = {computing_line(text, place.line, statement_at(text, place.line)) for text in texts}
    return replace(place, line=meant.pop()) if len(meant) == 1 else place


def _require_no_slip(place: Place, known: Collection[str]) -> None:
    """Raises TfdbgError where nothing is called as the file of `place`, and one of the user's files nearly so."""
    wanted = Path(place.file).parts
    if "*" in place.file:
        return
    tails = {Path(file).parts[-len(wanted) :] for file in known if not is_library(file)}
    near = sorted(str(Path(*tail)) for tail in tails if _are_alike(tail, wanted))
    if near:
        raise _not_known(place, f"Did you mean {' or '.join(f'{file}:{place.line}' for file in near)}?")


def _not_known(place: Place, hint: str) -> TfdbgError:
    waits = f"`*{Path(place.file).name}:{place.line}` waits for such a file all the same."
    return TfdbgError(f"No file called {place.file} is known here.", hint=f"{hint} {waits}")


def _are_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether these parts of paths are the same with slips. Files that have another number are not."""
    if len(one) != len(other):
        return False
    for first, second in ((Path(a).stem, Path(b).stem) for a, b in zip(one, other, strict=True) if a != b):
        if abs(len(first) - len(second)) > 1 or _NUMBER.sub("", first) == _NUMBER.sub("", second):
            return False
        if SequenceMatcher(None, first.lower(), second.lower()).ratio() < _AS_A_SLIP:
            return False
    return True
