"""What all captures of session runs have in common that hold the values in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.dump_folders import to_keep
from tfdbg_cli.capture.sessions.called_graph import CalledFunctions
from tfdbg_cli.capture.sessions.extended.call_checks import call_kind, reached_by, state_of
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.program_graph import files_of, program_graph
from tfdbg_cli.capture.sessions.updated_variables import with_updated
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot
from tfdbg_cli.capture.tf.memo import Memos
from tfdbg_cli.capture.what_if.session import SessionWhatIf
from tfdbg_cli.capture.what_if.steppers import SteppableReplay
from tfdbg_cli.capture.what_if.whole_run import WholeWhatIf
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Traceback


@dataclass(frozen=True)
class ShownBeside:
    """What runs of one kind show beside values. All of them share one object, since much is cached by graph."""

    graph: Graph
    tracebacks: Mapping[str, Traceback]


_SHOWN: Memos[ShownBeside] = Memos(keep=2)


def shown_beside(invocation: Invocation) -> ShownBeside:
    """What runs of this kind show beside values: the graph has the insides of calls, and the variables written."""
    graph = invocation.session.graph

    def found_out() -> ShownBeside:
        reached = reached_by(invocation)
        called = CalledFunctions(graph, reached.order if reached.calls else ())
        model = called.added_to(program_graph(graph))
        return ShownBeside(with_updated(model, state_of(invocation).written), called.tracebacks())

    return _SHOWN.of(graph, call_kind(invocation), found_out)


class InMemory:
    """A capture of one run; subclasses make the run, and set `_run` to what they return, for `finish` to write."""

    def __init__(self, invocation: Invocation, plan: Plan) -> None:
        self.invocation = invocation
        self.plan = plan
        self._run: Run | None = None

    def bare(self, call: Call, error: RunError | None, held: RunSnapshot | None, notes: tuple[str, ...]) -> Run:
        """The run without values: its graph has the insides of calls, and the variables that it writes."""
        shown = shown_beside(self.invocation)
        return Run(
            call=call,
            graph=shown.graph,
            tracebacks=shown.tracebacks,
            error=error,
            notes=notes,
            replayable=held,
            steppable=None if held is None else SteppableReplay(held),
            what_if=WholeWhatIf(SessionWhatIf(self.invocation)) if error is None else None,
        )

    def finish(self, keep: bool) -> None:
        """Write the values to disk if they are to be kept.

        Raises:
            TfdbgError: the disk is full, or the folder cannot be written to.

        """
        if keep and self.plan.directory is not None and self._run is not None:
            kept = to_keep(self._run)
            write_dump(kept, self.plan.directory, shared=files_of(self.invocation.session.graph, kept))
