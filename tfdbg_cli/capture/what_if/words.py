"""The sentences about parts of a run that cannot be computed again, or were not."""

from __future__ import annotations

from tfdbg_cli.analysis.error_text import first_line
from tfdbg_cli.capture.what_if.slices import Kept, Node, Slice
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.units import names_text


def left_out(found: Slice[Node]) -> tuple[str, ...]:
    """Sentences about nodes that depend on the replaced values, but were not computed again."""
    said = []
    writes, late = found.names(Kept.WRITES), found.names(Kept.LATE)
    if writes:
        said.append(f"Nothing was written: {names_text(writes)} did not run.")
    said += kept_as_drawn(found)
    if late:
        said.append(f"{names_text(late)} came after an update of the variable, and is kept as it was.")
    return tuple(said)


def kept_as_drawn(found: Slice[Node]) -> tuple[str, ...]:
    """A sentence about nodes that depend on the replaced values, but keep what they drew from outside; or none."""
    drawn = found.names(Kept.DRAWN)
    if not drawn:
        return ()
    return (f"{names_text(drawn)} would give something else each time, so what the run got from there is kept.",)


def within(name: TensorName, place: str) -> str:
    """Why a tensor in the branch, loop or compiled call `place` cannot be replaced."""
    return f"{name} is made inside {place}, which runs as one, so nothing can be put in there."


def not_captured(name: TensorName) -> TfdbgError:
    """The error for a value that is needed and was not captured."""
    return TfdbgError(
        f"This needs the value of {name}, which was not captured.",
        hint="Capture the run without filters: `run`.",
    )


def failed(error: Exception | RunError) -> TfdbgError:
    """The error for an op that failed on the new values."""
    return TfdbgError(
        f"With these values the run fails: {_told(error)}.",
        hint="`set` lists what is replaced, `set -d TENSOR` takes it back.",
    )


def _told(error: Exception | RunError) -> str:
    text = first_line(str(getattr(error, "message", "") or error))
    name = error.type_name if isinstance(error, RunError) else type(error).__name__
    return f"{name}: {text.rstrip('.')}"


def op_failed(node: str, error: Exception) -> TfdbgError:
    """The error for a node that fails when it is stepped to."""
    return TfdbgError(
        f"{node} fails: {_told(error)}.",
        hint="`pt` and `ni` show its inputs; `inject_value` gives one another value.",
    )
