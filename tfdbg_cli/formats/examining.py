"""What is to be said of a path that somebody wants opened: what it is, what is wrong with it, what to do."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.opening import FORMATS, named_place, open_path
from tfdbg_cli.formats.recording.format import Examination, Format, Place

_RUNS_LOOKED_AT = 200
# What lies in folders and files of other tools, by a part of a name.
_KNOWN = (
    ("events.out.tfevents.", "events for TensorBoard", "Show them with: tensorboard --logdir PATH."),
    (".keras", "a Keras model", "It holds a program, and no runs of it: run it under `tfdbg run`."),
    (".xplane.pb", "a profile of TensorFlow", "Show it with TensorBoard's profiler."),
)


def examined(path: Path | str) -> Examination:
    """What `path` is, and what is wrong with it.

    Raises:
        TfdbgError: there is nothing there, or it may not be read.

    """
    place = named_place(path)
    for known in FORMATS:
        if known.recognizes(place):
            return known.examine(place) if known.examine is not None else _by_notes(known, place)
    return _not_ours(place)


def _by_notes(known: Format, place: Place) -> Examination:
    """What a recording tells of itself when it is opened: its notes, and those of its runs."""
    try:
        opened = open_path(place.path)
    except TfdbgError as error:
        return Examination(known.name, (), ((error.message, error.hint),))
    facts = [f"{len(opened.runs):,} {opened.noun}{'s' * (len(opened.runs) != 1)}.", *opened.notes]
    troubles = []
    for at in range(min(len(opened.runs), _RUNS_LOOKED_AT)):
        try:
            notes = opened.runs[at].notes
        except TfdbgError as error:
            notes = (error.message,)
        troubles += [(f"{opened.noun.capitalize()} {at + 1}: {note}", "") for note in notes]
    return Examination(known.name, tuple(facts), tuple(troubles))


def _not_ours(place: Place) -> Examination:
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
