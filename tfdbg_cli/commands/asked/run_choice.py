"""Which run a user means: by its place in the list, or by its number, as `#26`."""

from __future__ import annotations

from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import number_of, outline_of
from tfdbg_cli.model.units import names_text
from tfdbg_cli.model.whole_numbers import whole_number


def names_run(text: str) -> bool:
    """Whether `text` is written as a run is: a number, or one behind a #."""
    return whole_number(text.removeprefix("#")) is not None


def place_of_run(context: Context, text: str) -> int:
    """The place of the run that `text` names, from 0; of several workers' by one number that of the one looked at.

    Raises:
        TfdbgError: it names none, or no run has that number, or several have it.

    """
    number = whole_number(text.removeprefix("#"))
    if number is None:
        raise TfdbgError(
            f"{text!r} is no run.", hint="Write its place in the list (runs 3), or its number (runs #26)."
        )
    if not text.startswith("#"):
        return number - 1
    runs = context.runs
    found = [place for place in range(len(runs)) if number_of(runs, place) == number]
    if not found:
        raise TfdbgError(f"There is no run #{number} here.", hint="`runs` lists those that are there.")
    if len(found) > 1:
        worker = outline_of(runs, context.current).call.worker
        found = [place for place in found if outline_of(runs, place).call.worker == worker] or found
    if len(found) > 1:
        places = names_text(place + 1 for place in found)
        hint = f"Write its place in the list: runs {found[-1] + 1}."
        raise TfdbgError(f"{len(found)} runs here are a run #{number}, of several programs: {places}.", hint=hint)
    return found[0]
