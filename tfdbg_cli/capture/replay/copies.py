"""The copies that are kept for the runs of one graph, so that runs made again are prepared once for each kind."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.capture.failures import remark
from tfdbg_cli.capture.replay.session_copy import SessionCopy
from tfdbg_cli.capture.replay.shelf import Shelf
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.model.replay import InputRole, ReplaySpec

_IN_TURN = (
    "The program makes more kinds of runs in turn than memory has room to keep prepared, so runs made again are "
    "prepared anew, which is slow."
)


class Copies:
    """The copies used last. A copy that gives way is freed when nobody uses it any more."""

    def __init__(self) -> None:
        self._shelf: Shelf[SessionCopy] = Shelf(lambda copy: copy.nbytes, lambda: remark(_IN_TURN))

    def of(self, replay_spec: ReplaySpec) -> SessionCopy:
        """The copy for runs like `replay_spec`.

        Raises:
            TfdbgError: TensorFlow does not take the graph or the names.

        """

        def made() -> SessionCopy:
            with INSIDE:
                return SessionCopy(replay_spec)

        return self._shelf.of(_kind(replay_spec), made)

    @property
    def kept(self) -> Sequence[SessionCopy]:
        """Those that are there, the one used last at the end."""
        return self._shelf.kept


def _kind(replay_spec: ReplaySpec) -> tuple[object, ...]:
    """Equal for runs that can be made in one copy."""
    inputs = tuple(
        (item.name, item.role, item.dtype, item.node, item.value.shape if item.role is InputRole.VARIABLE else None)
        for item in replay_spec.inputs
    )
    return replay_spec.graph, replay_spec.fetches, inputs, tuple(sorted(replay_spec.details.items()))
