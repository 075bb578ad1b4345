"""Decides whether the values of a run are taken while it happens, or from its replay on copies."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.estimate import NeededSpace, needed, shapes_of
from tfdbg_cli.capture.runs.session.graph_choice import choose_graph
from tfdbg_cli.capture.sessions.call_names import fed
from tfdbg_cli.capture.sessions.extended.call_checks import call_kind, misfit, reached_by, state_of
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.reach import KINDS
from tfdbg_cli.capture.tf.memo import Memos
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import CaptureRequest, GraphChoice, Values
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Estimate
from tfdbg_cli.model.units import bytes_text

_NEEDED: Memos[NeededSpace] = Memos(keep=KINDS)  # by the kind of call, the shapes of the feeds and the request


def graph_asked_for(request: CaptureRequest, settings: Settings) -> GraphChoice:
    """The graph that the request or the settings ask for; AUTO if neither does."""
    return GraphChoice(settings.graph) if request.graph is GraphChoice.AUTO else request.graph


def why_in_place(invocation: Invocation, plan: Plan, settings: Settings) -> str:
    """Why the values have to be taken while the run happens; empty when it can be made again for them."""
    if plan.watch_options is not None:
        return "a watch_fn says what TensorFlow dumps of it"
    reason = why_not_again(invocation)
    # If the graph leaves the order of ops to chance, any change to the run may change it: only a replay is looked at.
    if reason or state_of(invocation).unordered:
        return reason
    if Values.KEEP in (plan.values, plan.watched.values if plan.watched is not None else None):
        return "`--keep` or `--values keep` asks for it"
    return _why_dumped(invocation, plan.capture, settings, plan.watching, plan.directory)


def why_not_again(invocation: Invocation) -> str:
    """Why a run cannot be made again for its values; empty when it can."""
    if invocation.session.sess_str:
        return "the session runs elsewhere"
    obstacle = state_of(invocation).obstacle
    if obstacle:
        return f"the run cannot be made again: {obstacle}"
    return misfit(invocation)


def _why_dumped(
    invocation: Invocation, request: CaptureRequest, settings: Settings, watching: bool, directory: Path | None
) -> str:
    wanted = graph_asked_for(request, settings)
    if wanted is GraphChoice.RUNTIME:
        return "the runtime graph is what TensorFlow makes of the run itself"
    if wanted is GraphChoice.PYTHON:
        return ""
    if directory is not None:
        return "what TensorFlow dumps of it is kept in a folder"
    needed = None if watching else estimate_of(invocation, request, GraphKind.PYTHON, settings, None)
    if needed is not None and needed.nbytes is not None and needed.nbytes > needed.budget:
        return f"its values take about {bytes_text(needed.nbytes)}, more than tfdbg may hold in memory"
    return ""


def estimate_of(
    invocation: Invocation, request: CaptureRequest, kind: GraphKind, settings: Settings, directory: Path | None
) -> Estimate:
    """What the values that `request` asks for take."""
    graph, shapes = invocation.session.graph, shapes_of(fed(invocation.feeds))
    key = *call_kind(invocation), tuple(sorted(shapes.items())), request

    def found_out() -> NeededSpace:
        return needed(list(filter(chooser(request).admits, reached_by(invocation).fetchable.values())), shapes)

    return _NEEDED.of(graph, key, found_out).estimate(kind, settings, directory)


def kind_shown(
    invocation: Invocation, request: CaptureRequest, settings: Settings, watching: bool, directory: Path | None
) -> GraphKind:
    """Which graph a run would be shown in if it were captured now."""
    if not why_not_again(invocation) and not _why_dumped(invocation, request, settings, watching, directory):
        return GraphKind.PYTHON
    kind, _ = choose_graph(request.graph, watching, settings, invocation.session, reached_by(invocation))
    return kind
