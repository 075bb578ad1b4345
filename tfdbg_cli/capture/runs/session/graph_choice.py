"""Which graph a captured run shows, the program's or the runtime's, and the sentences that say so on the screen."""

from __future__ import annotations

from tfdbg_cli.capture.sessions.loops_in_branches import loop_in_branch
from tfdbg_cli.capture.sessions.reach import Reach
from tfdbg_cli.capture.tf.types import RawSession
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import GraphChoice
from tfdbg_cli.model.graph import RUNTIME_GRAPH_SHOWN, GraphKind

PYTHON = "This is the Python graph, as the program built it, in the order of its edges."
_SHOWN = 40  # characters of a name that is far too long


def choose_graph(
    wanted: GraphChoice, watching: bool, settings: Settings, session: RawSession, reached: Reach
) -> tuple[GraphKind, tuple[str, ...]]:
    """The graph to show of a run whose values are taken while it happens, and notes for the screen.

    If `wanted` and the settings leave it open, a single run is shown in the runtime graph, which has the insides of
    loops, and the inputs of an op that failed. Runs of a watch are shown in the Python graph, which is far cheaper,
    unless there is a loop, a branch or a function to see into.
    """
    if wanted is GraphChoice.AUTO:
        wanted = GraphChoice(settings.graph)
    asked = ", though the runtime graph was asked for" if wanted is GraphChoice.RUNTIME else ""
    if session.sess_str:
        return GraphKind.PYTHON, (f"The session runs elsewhere ({_text(session.sess_str)}){asked}.", PYTHON)
    if reached.unwritable and wanted is not GraphChoice.PYTHON:
        # TensorFlow ends the whole process when it cannot open the file of a dump (debug_io_utils.cc).
        name = reached.unwritable
        shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
        return GraphKind.PYTHON, (f"The name of the node {shown} cannot be that of a file{asked}.", PYTHON)
    if wanted is GraphChoice.AUTO:
        python = watching and not (reached.loops or reached.hidden or reached.calls)
        wanted = GraphChoice.PYTHON if python else GraphChoice.RUNTIME
    notes: tuple[str, ...] = ()
    if wanted is GraphChoice.RUNTIME:
        loop = loop_in_branch(session.graph, reached.order)
        if not loop:
            return GraphKind.RUNTIME, (RUNTIME_GRAPH_SHOWN,)
        notes = (f"A run with a loop in a branch ({loop}) fails while TensorFlow dumps it{asked}.",)
    if reached.hidden:
        notes = (*notes, f"{reached.hidden} tensors in loops and branches cannot be fetched.")
    return GraphKind.PYTHON, (PYTHON, *notes)


def _text(target: bytes | str) -> str:
    return target.decode("utf-8", "replace") if isinstance(target, bytes) else str(target)
