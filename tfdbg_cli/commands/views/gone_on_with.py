"""What is said of values that `set` gave the program at stops from which it has gone on: `unset` comes too late."""

from __future__ import annotations

from tfdbg_cli.commands.asked.name_endings import ending_in
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.gone_on_with import GivenThere
from tfdbg_cli.model.runs import RunEnd


def gone_on_with(context: Context) -> list[Line]:
    """A line for each tensor or variable that was given another value at an earlier stop."""
    return [line(Span(_said(one), Style.WARNING)) for one in _given(context)]


def require_still_here(context: Context, wanted: str) -> None:
    """Refuse to take back what `wanted` means where that was given at an earlier stop.

    Raises:
        TfdbgError: it was; the hint says what can be done instead.

    """
    given = {str(one.name): one for one in _given(context)}
    meant = {wanted, f"{wanted}:0", *ending_in(wanted, given), *ending_in(f"{wanted}:0", given)}
    found = [one for name, one in given.items() if name in meant]
    if len(found) != 1:
        return
    one = found[0]
    other = f"`set {quoted(one.name.node)} EXPRESSION` assigns it another one." if one.is_variable else ""
    raise TfdbgError(_said(one), hint=other)


def _given(context: Context) -> list[GivenThere]:
    return list(context.stop.gone_on_with or ()) if isinstance(context.stop, RunEnd) else []


def _said(one: GivenThere) -> str:
    name = one.name.node if one.is_variable else one.name
    there = f"at {one.node} in run #{one.run}"
    return f"`set` gave {name} another value {there}, and the program has gone on with that: nothing takes it back."
