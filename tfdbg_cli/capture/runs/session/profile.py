"""Capture of times instead of values: a run under the option FULL_TRACE."""

from __future__ import annotations

from copy import deepcopy

from tfdbg_cli.capture.sessions.extended.call_checks import state_of
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.program_graph import program_graph
from tfdbg_cli.capture.sessions.unordered import doubt_of_order
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.tracebacks import tracebacks_of
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.formats.messages.step_stats import profile_of
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.runs import Run

v1 = compat.v1

_TIMED = "This run was profiled: it has times and no values."


class ProfileCapture:
    """One run with the time of every node."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._options = deepcopy(invocation.options) if invocation.options else v1.RunOptions()
        self._options.trace_level = v1.RunOptions.FULL_TRACE
        own = invocation.run_metadata
        self._metadata = own if own is not None else v1.RunMetadata()

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        return self._invocation.with_options(self._options, self._metadata)

    def run(self, call: Call, error: RunError | None) -> Run:
        """The times that were taken."""
        graph = self._invocation.session.graph
        model = program_graph(graph)
        doubt = doubt_of_order(state_of(self._invocation).unordered)  # who traces ops delays them
        return Run(
            call=call,
            graph=model,
            tracebacks=tracebacks_of(graph),
            error=error,
            profile=None if error else profile_of(self._metadata.step_stats, model),
            notes=(_TIMED, doubt) if doubt else (_TIMED,),
        )

    def finish(self, keep: bool) -> None:
        """Nothing is left behind."""
