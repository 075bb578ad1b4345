"""Functions whose watched or captured calls drew random numbers from kernels of their own, to be told at a stop.

A random op of TensorFlow 1 (`tf.random.uniform` with a seed) counts inside its kernel. The copy of a function that a
watch calls has kernels of its own: the plain function, called again behind the stop, begins where it left off.
"""

from __future__ import annotations

from tfdbg_cli.model.units import names_text

_untold: dict[str, None] = {}
_recorded: dict[str, None] = {}
_told: set[str] = set()


def note_draws(function: str) -> None:
    """Note that a call of `function`, by its name for the user, drew such numbers."""
    if function not in _told:
        _untold[function] = None


def note_recorded_draws(function: str) -> None:
    """Note that a recorded call of `function` drew such numbers."""
    _recorded[function] = None


def draws_to_tell_behind_a_recording() -> str:
    """A sentence about the functions that drew so while a recording was on, which is over; empty without any."""
    names = list(_recorded)
    _recorded.clear()
    if not names:
        return ""
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{names_text(names)} {verb} random ops that count inside their kernels, and the calls that were recorded had"
        " kernels of their own: called from here on, they draw other numbers than undebugged."
    )


def draws_to_tell() -> str:
    """A sentence about the functions that were noted and not told of yet; empty where there are none."""
    names = list(_untold)
    if not names:
        return ""
    _told.update(names)
    _untold.clear()
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{names_text(names)} {verb} random ops that count inside their kernels, and watched calls had kernels of"
        " their own: called without the watch from here on, they draw other numbers than undebugged."
    )
