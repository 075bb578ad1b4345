"""What could not be read of a run when it was saved once more, as the copy tells of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Lack, NoValue

_SAVED = "When this run was saved, not all of it could be read. "
_UNREAD = "When this run was saved, it could not be read: "
_OF_A_FILE = re.compile(r"\bfile\b|\bcannot be read\b")


def lost_at_saving(run: Run, damaged: Sequence[tuple[str, NoValue]]) -> tuple[str, ...]:
    """Sentences about what is lacking of `run` in a copy; none for a run that is whole.

    `damaged` are the names of tensors and feeds that could not be read, and why. What an earlier copy has lost it
    tells already.
    """
    before = [sentence for sentence in run.lost if sentence.startswith(_SAVED)]
    now = [sentence for sentence in run.lost if not sentence.startswith(_SAVED)]
    if damaged and not before:
        name, why = damaged[0]
        reason = "" if now else f": {why.text.removeprefix(_UNREAD).rstrip('.')}"
        now.append(f"{_lacking(len(damaged))}, {name} the first{reason}.")
    return (*before, f"{_SAVED}{' '.join(now)}") if now else tuple(before)


def lost_value(value: NoValue) -> NoValue:
    """What a copy has in the place of `value`: of a file that is named there it says that it was another's."""
    if value.lack is not Lack.DAMAGED or value.text.startswith(_UNREAD) or not _OF_A_FILE.search(value.text):
        return value
    return NoValue(value.lack, f"{_UNREAD}{value.text}")


def told_of_lost(runs: Sequence[tuple[int, Sequence[str], int]]) -> tuple[str, ...]:
    """What is said when `runs` were saved; nothing where none has lost any.

    Of each it is the number of the run, those sentences, and how many values are lacking.
    """
    if not runs:
        return ()
    number, sentences, lacking = runs[0]
    told = f"Of run #{number}" if len(runs) == 1 else f"Of {count_text(len(runs), 'run')}, #{number} the first,"
    why = " ".join(sentence.removeprefix(_SAVED) for sentence in sentences)
    in_all = sum(count for _, _, count in runs)
    return (f"{told} not all could be read. {why.replace(_lacking(lacking), _lacking(in_all), 1)}",)


def _lacking(count: int) -> str:
    return f"{count_text(count, 'value is', 'values are')} lacking"
