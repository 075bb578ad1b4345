"""Names of which a user gives the last parts, as lists show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfdbg_cli.errors import TfdbgError

ELIDED = "…/"
"""Stands for the first parts of a name that is shown without them."""


def ending_in(text: str, names: Iterable[str]) -> Sequence[str]:
    """The names that `text` means by their last parts: `dense/MatMul`, or `…/dense/MatMul` as it was shown."""
    ending = "/" + text.removeprefix(ELIDED)
    return [name for name in names if name.endswith(ending)] if text.removeprefix(ELIDED) else []


def the_one_ending_in(text: str, names: Iterable[str], what: str) -> str:
    """The one of `names` that `text` means by its last parts; `text` itself where none does.

    Raises:
        TfdbgError: several do; `what` says of what they are the names, such as `nodes`.

    """
    found = ending_in(text, names)
    if len(found) > 1:
        raise TfdbgError(f"{text} fits {len(found)} {what}.", hint=f"Give more of the name: {', '.join(found[:3])}.")
    return found[0] if found else text
