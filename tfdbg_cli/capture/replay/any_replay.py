"""A run made again, whatever kind of run it is."""

from __future__ import annotations

from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.capture.replay.session import replay_session
from tfdbg_cli.capture.replay.until_failure import replay_until_failure
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import ReplaySpec


def replay(replay_spec: ReplaySpec, room: int | None = None) -> Replayed:
    """Make a run again, on fresh copies of its variables, with all its values: when it fails, those until then.

    Args:
        replay_spec: the run.
        room: how many bytes the values of branches and loops may take together; None: any.

    Raises:
        TfdbgError: TensorFlow does not take the graph or the inputs; an error of an op of the run is none.

    """
    if replay_spec.kind is RunKind.FUNCTION:
        return replay_until_failure(replay_spec, room)
    if replay_spec.kind.of_session:
        return replay_session(replay_spec, room)
    raise TfdbgError(f"A run of the kind {replay_spec.kind} cannot be made again.", hint="Make a tf.function of it.")
