"""Where the nodes of a tf.Graph were made, read from the graph when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from linecache import getline
from pathlib import PurePath

from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import Op, TfGraph
from tfdbg_cli.model.sources import Frame, Traceback, is_library, user_frame


def tracebacks_of(graph: TfGraph) -> Tracebacks:
    """The creation stacks of the nodes of `graph`; those that were read once stay."""
    return _TRACEBACKS.of(graph)


def _stack_of(op: Op) -> Traceback:
    """The stack of a tf.Operation. TensorFlow keeps no text of the line, and AutoGraph no name of a lambda."""
    return tuple(
        Frame(
            frame.filename,
            frame.lineno,
            frame.name or "<lambda>",
            getline(frame.filename, frame.lineno).strip(),
        )
        for frame in op.traceback or ()
    )


def _begins_in_thread(stack: Traceback) -> bool:
    return bool(stack) and PurePath(stack[0].file).name == "threading.py"


class Tracebacks(Mapping[str, Traceback]):
    """Creation stacks by node name, read from the tf.Graph when asked for.

    Replicas of tf.distribute are traced in threads of their own, whose stacks do not begin with the program. Such a
    stack without a line of the program's gets the calls in front that led to the last op made before outside of such
    threads: there the thread that waits for the replicas asked for them.
    """

    def __init__(self, graph: TfGraph) -> None:
        self._graph = graph
        self._known: dict[str, Traceback] = {}
        self._places: dict[str, int] = {}

    def __getitem__(self, name: str) -> Traceback:
        if name not in self._known:
            try:
                op = self._graph.get_operation_by_name(name)
            except (KeyError, ValueError, TypeError):
                raise KeyError(name) from None
            stack = _stack_of(op)
            outside = _begins_in_thread(stack) and user_frame(stack) is None
            self._known[name] = (*self._led_to(name), *stack) if outside else stack
        return self._known[name]

    def _led_to(self, name: str) -> Traceback:
        """The calls down to the last of the program that led to the threads in which `name` was made."""
        ops = self._graph.get_operations()
        if len(self._places) != len(ops):
            self._places = {op.name: place for place, op in enumerate(ops)}
        for place in range(self._places.get(name, 0) - 1, -1, -1):
            stack = _stack_of(ops[place])
            own = [i for i, frame in enumerate(stack) if not is_library(frame.file)]
            if own and not _begins_in_thread(stack):
                return stack[: own[-1] + 1]
        return ()

    def __contains__(self, name: object) -> bool:
        try:
            return bool(self[str(name)])
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return (op.name for op in self._graph.get_operations())

    def __len__(self) -> int:
        return len(self._graph.get_operations())


_TRACEBACKS = Memo(Tracebacks)


class TracebacksInside(Mapping[str, Traceback]):
    """Creation stacks of nodes inside of functions, by the names that a run shows: found when asked for."""

    def __init__(self, find: Callable[[], Mapping[str, tuple[TfGraph, str]]]) -> None:
        """`find` gives for each such name the graph that the node is in, and its name there."""
        self._find = find

    @cached_property
    def _places(self) -> Mapping[str, tuple[TfGraph, str]]:
        return self._find()

    def __getitem__(self, name: str) -> Traceback:
        graph, node = self._places[name]
        return tracebacks_of(graph)[node]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
