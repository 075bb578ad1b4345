"""The sentences about parts of a run that cannot be computed again, or were not."""

from __future__ import annotations

from collections.abc import Mapping

from tfdbg_cli.analysis.error_text import first_line
from tfdbg_cli.analysis.variables.read_values import reads_of
from tfdbg_cli.capture.what_if.slices import Kept, Node, Slice, names_kept
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import names_text

_DRAWN = {
    Kept.DRAWN: "{} would give something else each time, so what the run got from there is kept.",
    Kept.ASKED: "No Python function is called again: what the run got from {} is kept.",
    Kept.LOOKED_UP: "Nothing is looked up again in a table: what the run got from {} is kept.",
}


def left_out(found: Slice[Node]) -> tuple[str, ...]:
    """Sentences about nodes that depend on the replaced values, but were not computed again."""
    said = []
    writes, late = found.names(Kept.WRITES), found.names(Kept.LATE)
    if writes:
        said.append(f"Nothing was written: {names_text(writes)} did not run.")
    said += kept_as_drawn(found.kept)
    if late:
        said.append(f"{names_text(late)} came after an update of the variable, and is kept as it was.")
    return tuple(said)


def kept_as_drawn(kept: Mapping[str, Kept]) -> tuple[str, ...]:
    """Sentences about nodes that depend on the replaced values, but keep what they got from outside."""
    said = ((names_kept(kept, why), text) for why, text in _DRAWN.items())
    return tuple(text.format(names_text(names)) for names, text in said if names)


def within(name: TensorName, place: str) -> str:
    """Why a tensor in the branch, loop or compiled call `place` cannot be replaced."""
    return f"{name} is made inside {place}, which runs as one, so nothing can be put in there."


def not_captured(name: TensorName) -> TfdbgError:
    """The error for a value that is needed and was not captured."""
    return TfdbgError(
        f"This needs the value of {name}, which was not captured.",
        hint="Capture the run without filters: `run`.",
    )


def not_made_again(run: Run, name: TensorName, reason: str = "") -> TfdbgError:
    """The error for the variable behind the handle `name`, where `run` cannot be made again, with the `reason`."""
    reads = list(map(str, reads_of(run, name)))
    if reads:
        what = f"`set {reads[0]} EXPRESSION`" if len(reads) == 1 else f"each of {names_text(reads)}"
        hint = f"Replace what was read from it: {what}."
    else:
        hint = "Replace what is computed from it."
    said = f"{name.node} is a variable, and this run cannot be made again with another value in it"
    return TfdbgError(f"{said}: {reason}" if reason else f"{said}.", hint=hint)


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
