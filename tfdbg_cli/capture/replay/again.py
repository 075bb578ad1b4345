"""A run made again, whatever kind of run it is."""

from __future__ import annotations

from tfdbg_cli.capture.replay.repeated import Repeated
from tfdbg_cli.capture.replay.session import repeat_session
from tfdbg_cli.capture.replay.until_failure import repeat_until_failure
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.repetition import Repetition


def repeat(repetition: Repetition, room: int | None = None) -> Repeated:
    """Make a run again, on fresh copies of its variables, with all its values: when it fails, those until then.

    Args:
        repetition: the run.
        room: how many bytes the values of branches and loops may take together; None: any.

    Raises:
        TfdbgError: TensorFlow does not take the graph or the inputs; an error of an op of the run is none.

    """
    if repetition.kind is RunKind.FUNCTION:
        return repeat_until_failure(repetition, room)
    if repetition.kind in (RunKind.SESSION, RunKind.CALLABLE):
        return repeat_session(repetition, room)
    raise TfdbgError(f"A run of the kind {repetition.kind} cannot be made again.", hint="Make a tf.function of it.")
