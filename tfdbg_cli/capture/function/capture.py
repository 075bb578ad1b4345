"""Capture of a function call: with its values, with its times, or with a word why there are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.function.instrumented import Outcome
from tfdbg_cli.capture.function.traced_function import TracedFunction
from tfdbg_cli.capture.guard import INSIDE
from tfdbg_cli.capture.session.dump_folders import to_keep
from tfdbg_cli.capture.session.reach import chooser
from tfdbg_cli.formats.dump_writer import write_dump
from tfdbg_cli.model.decision import GraphChoice
from tfdbg_cli.model.runs import Call, Run, RunError
from tfdbg_cli.model.tensors import PartOfStore, TensorStore

_VALUES = (
    "This is the Python graph, as the program built it, in the order in which its values were made. Each value was "
    "one more output, which keeps TensorFlow from fusing ops: last digits can differ from an undebugged run."
)
_NO_RUNTIME_GRAPH = "The runtime graph, though asked for, is shown of sessions only."


class PerformedCall(Protocol):
    """What capture needs of a call of a graph function."""

    @property
    def inputs(self) -> Sequence[Any]:
        """The flat tensors that it is given."""
        ...

    @property
    def traced(self) -> TracedFunction:
        """What is known about the function."""
        ...

    def plain(self) -> Any:
        """Make the call as the program made it."""
        ...


class FunctionCapture:
    """One call with every value, held in memory where TensorFlow put it."""

    def __init__(self, call: PerformedCall, plan: Plan, room: int) -> None:
        """Prepare the call. The values of loops and branches may take `room` bytes."""
        self._call = call
        self._plan = plan
        self._room = room
        self._instrumented = call.traced.instrumented  # made before anything is performed
        self._outcome: Outcome | None = None
        self._run: Run | None = None

    def perform(self) -> Any:
        """Make the call. Raises what the call raises."""
        with INSIDE:
            self._outcome = self._instrumented.perform(self._call.inputs, self._room)
        if self._outcome.error is not None:
            raise self._outcome.error
        return list(self._outcome.outputs) or None

    def run(self, call: Call, error: RunError | None) -> Run:
        """What was taken; after an error, the values of branches and turns of loops that had ended."""
        assert self._outcome is not None
        traced = self._call.traced
        notes = ((_VALUES,) if error is None else ()) + self._outcome.notes
        if self._plan.capture.graph is GraphChoice.RUNTIME:
            notes += (_NO_RUNTIME_GRAPH,)
        store = self._chosen(self._outcome.captured)
        self._run = Run(call, store, traced.graph, tracebacks=traced.tracebacks, error=error, notes=notes)
        return self._run

    def _chosen(self, store: TensorStore) -> TensorStore:
        if not self._plan.capture.narrowed:
            self._call.traced.taken = sum(store[row].nbytes or 0 for row in range(len(store)))
            return store
        admits = chooser(self._plan.capture).admits_named
        rows = [row for row in range(len(store)) if admits(store[row].node, store[row].op_type, store[row].dtype)]
        return PartOfStore(store, rows)

    def finish(self, keep: bool) -> None:
        """Write the values to disk if they are to be kept.

        Raises:
            TfdbgError: the disk is full, or the folder cannot be written to.

        """
        if keep and self._plan.directory is not None and self._run is not None:
            write_dump(to_keep(self._run), self._plan.directory)


class WithoutValues:
    """One call as the program made it, and `note`, which says why it has no values."""

    def __init__(self, plain: Callable[[], Any], note: str) -> None:
        self._plain = plain
        self._note = note

    def perform(self) -> Any:
        """Make the call. Raises what the call raises."""
        return self._plain()

    def run(self, call: Call, error: RunError | None) -> Run:
        """The call alone."""
        return Run(call, error=error, notes=(self._note,))

    def finish(self, keep: bool) -> None:
        """Nothing is left behind."""
