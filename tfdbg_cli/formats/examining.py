"""What is to be said of a path that somebody wants opened: what it is, what is wrong with it, what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.opening import FORMATS, far_place_at, named_place, open_path
from tfdbg_cli.formats.recording.addresses import is_address
from tfdbg_cli.formats.recording.format import Examination, Format, NamedPath
from tfdbg_cli.model.units import count_text

if TYPE_CHECKING:
    from tfdbg_cli.formats.remote.far_place import FarPlace

_RUNS_LOOKED_AT = 200
# What lies in folders and files of other tools, by a part of a name.
_KNOWN = (
    ("events.out.tfevents.", "events for TensorBoard", "Show them with: tensorboard --logdir PATH."),
    (".keras", "a Keras model", "It holds a program, and no runs of it: run it under `tfdbg run`."),
)


def examined(path: Path | str) -> Examination:
    """What `path`, which may be an address, is, and what is wrong with it.

    Raises:
        TfdbgError: there is nothing there, or it may not be read.

    """
    if is_address(str(path)):
        far = far_place_at(str(path))
        with far.telling():
            return _told(_examined(named_place(far.path)), far)
    return _examined(named_place(path))


def _examined(place: NamedPath) -> Examination:
    for known in FORMATS:
        if known.recognizes(place):
            return known.examine(place) if known.examine is not None else _by_notes(known, place)
    return _not_ours(place)


def _told(found: Examination, far: FarPlace) -> Examination:
    """`found`, in which paths are addresses."""
    facts = (*map(far.told, found.facts), *far.notes)
    return Examination(found.what, facts, tuple((far.told(text), far.told(hint)) for text, hint in found.troubles))


def _by_notes(known: Format, place: NamedPath) -> Examination:
    """What a recording tells of itself when it is opened: its notes, and those of its runs."""
    try:
        opened = open_path(place.path)
    except TfdbgError as error:
        return Examination(known.name, (), ((error.message, error.hint),))
    facts = [f"{count_text(len(opened.runs), opened.noun)}.", *opened.notes]
    troubles = []
    for at in range(min(len(opened.runs), _RUNS_LOOKED_AT)):
        try:
            notes = opened.runs[at].notes
        except TfdbgError as error:
            notes = (error.message,)
        troubles += [(f"{opened.noun.capitalize()} {at + 1}: {note}", "") for note in notes]
    return Examination(known.name, tuple(facts), tuple(troubles))


def _not_ours(place: NamedPath) -> Examination:
    what_opens = f"tfdbg opens {' or '.join(known.name for known in FORMATS)}."
    mistaken = next(filter(None, (known.mistaken(place) for known in FORMATS)), None)
    if mistaken is not None:
        return Examination("nothing that opens by itself", (), ((mistaken.message, mistaken.hint),))
    names = [place.path.name] if place.is_file else place.names
    for part, what, advice in _KNOWN:
        if any(part in name for name in names):
            trouble = f"This is {what}, which tfdbg does not open."
            return Examination(what, (), ((trouble, advice.replace("PATH", str(place.path))),))
    if place.is_file:
        return Examination("a file of no format that tfdbg knows", (), (("It cannot be opened.", what_opens),))
    if not place.names:
        advice = (
            "Debugger V2 writes when the program ends or flushes, a session's debugger at the first run. Is it the"
            f" folder that the program was given? {what_opens}"
        )
        return Examination("an empty folder", (), (("Nothing was written here.", advice),))
    return Examination("a folder without runs of TensorFlow's debugger", (), (("It cannot be opened.", what_opens),))
