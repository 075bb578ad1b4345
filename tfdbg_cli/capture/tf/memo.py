"""What tfdbg found out about a tf.Graph, kept with that graph and gone with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfdbg_cli.model.graph import Graph

if TYPE_CHECKING:
    from tfdbg_cli.capture.replay.session_copy import Copies
    from tfdbg_cli.capture.sessions.call_state import CallState
    from tfdbg_cli.capture.sessions.exact.quiet_graph import QuietGraph
    from tfdbg_cli.capture.sessions.extended.watched_call import WatchedCall
    from tfdbg_cli.capture.sessions.hidden_ops import HiddenOps
    from tfdbg_cli.capture.sessions.program_graph import Tracebacks
    from tfdbg_cli.capture.sessions.reach import Reach
    from tfdbg_cli.formats.graph_files import GraphFiles

_ATTRIBUTE = "_tfdbg_kept"


@dataclass
class Kept:
    """Answers for one graph.

    `reaches` and `states` by version, fetches and feeds; `watched` besides by what is asked; `model` and `files` as
    of `model_version`. `hidden` are the ops that we added. `parts` are the parts of the
    graph that runs need, `copies` are where its runs are made again.
    """

    reaches: dict[tuple[Any, ...], Reach] = field(default_factory=dict)
    model: Graph | None = None
    model_version: int = -1
    tracebacks: Tracebacks | None = None
    files: GraphFiles | None = None
    states: dict[tuple[Any, ...], CallState] = field(default_factory=dict)
    hidden: HiddenOps | None = None
    watched: dict[tuple[Any, ...], WatchedCall] = field(default_factory=dict)
    parts: dict[tuple[Any, ...], QuietGraph] = field(default_factory=dict)
    copies: Copies | None = None


def kept_with(graph: Any) -> Kept:
    """The answers kept with `graph`.

    They refer to its operations, so a table on our side would keep every graph of the program alive for ever.
    """
    kept = getattr(graph, _ATTRIBUTE, None)
    if not isinstance(kept, Kept):
        kept = Kept()
        setattr(graph, _ATTRIBUTE, kept)
    return kept
