"""Where the nodes of a tf.Graph were made, read from the graph when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import PurePath
from types import CodeType
from typing import Any, TypeAlias

from tfdbg_cli.capture.tf.generated_code import written_call
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import Op, TfGraph
from tfdbg_cli.model.sources import Frame, Traceback, is_library, user_frame
from tfdbg_cli.process.source_text import text_line

_Call: TypeAlias = tuple[str, int, str]  # file, line, function
_MOST_LOOKED_AT = 5_000
_GENERATED = "__autograph_generated_file"  # stands in the names of files that hold such code


def tracebacks_of(graph: TfGraph) -> GraphTracebacks:
    """The creation stacks of the nodes of `graph`; those that were read once stay."""
    return _TRACEBACKS.of(graph)


def _call(frame: Any) -> _Call:
    """A frame of TensorFlow's as it is known here. AutoGraph keeps no name of a lambda."""
    return frame.filename, frame.lineno, frame.name or "<lambda>"


def _is_own(frame: Any) -> bool:
    """Whether a frame of TensorFlow's is a line of the program, or was generated of one."""
    if _GENERATED not in frame.filename:
        return not is_library(frame.filename)
    return not is_library(written_call(_call(frame))[0])


def _begins_in_thread(stack: Traceback) -> bool:
    return bool(stack) and PurePath(stack[0].file).name == "threading.py"


def calls_program(graph: TfGraph, code: CodeType) -> bool:
    """Whether the function of `code`, which was traced into `graph`, called the program, and that made an op there.

    Of a large graph the first ops are looked at.
    """
    return any(_is_made_below(op, code) for op in graph.get_operations()[:_MOST_LOOKED_AT])


def _is_made_below(op: Op, code: CodeType) -> bool:
    """Whether a line of the program's made `op`, in a call that the function of `code` made."""
    own = False
    for frame in reversed(op.traceback or ()):
        if (frame.filename, frame.name) == (code.co_filename, code.co_name):
            return own
        own = own or _is_own(frame)
    return False


class GraphTracebacks(Mapping[str, Traceback]):
    """Creation stacks by node name, read from the tf.Graph when asked for.

    Replicas of tf.distribute are traced in threads of their own, whose stacks do not begin with the program. Such a
    stack without a line of the program's gets the calls in front that led to the last op made before outside of such
    threads: there the thread that waits for the replicas asked for them.
    """

    def __init__(self, graph: TfGraph) -> None:
        self._graph = graph
        self._known: dict[str, Traceback] = {}
        self._own: dict[str, Frame] = {}  # innermost lines of the program: the lists of all runs ask for the same
        self._calls: dict[_Call, Frame] = {}  # nearly all stacks go through the same calls
        self._places: dict[str, int] = {}
        self._led: dict[int, Traceback] = {}  # by place: what `_led_to` finds from there on back
        self._counted = -1, 0  # the version of the graph when its ops were counted, and how many they were

    def __getitem__(self, name: str) -> Traceback:
        if name not in self._known:
            op = self._op(name)
            if op is None:
                raise KeyError(name)
            stack = self._stack_of(op)
            outside = _begins_in_thread(stack) and user_frame(stack) is None
            self._known[name] = (*self._led_to(name), *stack) if outside else stack
        return self._known[name]

    def place(self, name: str) -> Frame | None:
        """The innermost line of the program that made the node, else the innermost of all. See `TellsPlaces`."""
        if name in self._own:
            return self._own[name]
        stack = self._known.get(name)
        if stack is None:
            op = self._op(name)
            if op is None:
                return None
            own = next((frame for frame in reversed(op.traceback or ()) if _is_own(frame)), None)
            if own is not None:
                found = self._own[name] = self._frame(_call(own))
                return found
            stack = self[name]
        return user_frame(stack) or (stack[-1] if stack else None)

    def _stack_of(self, op: Op) -> Traceback:
        """The stack of a tf.Operation."""
        return tuple(map(self._frame, map(_call, op.traceback or ())))

    def _op(self, name: str) -> Op | None:
        """The tf.Operation of that name, where there is one."""
        try:
            return self._graph.get_operation_by_name(name)
        except (KeyError, ValueError, TypeError):
            return None

    def _frame(self, call: _Call) -> Frame:
        return self._calls.get(call) or self._read(call)

    def _read(self, call: _Call) -> Frame:
        """A call with its line, of which TensorFlow keeps no text."""
        file, number, function = written_call(call)
        found = self._calls[call] = Frame(file, number, function, text_line(file, number))
        return found

    def _led_to(self, name: str) -> Traceback:
        """The program's calls that made the last op before `name` outside such threads: they led to its thread."""
        ops = self._graph.get_operations()
        if len(self._places) != len(ops):
            self._places = {op.name: place for place, op in enumerate(ops)}
        found: Traceback = ()
        passed = []
        for place in range(self._places.get(name, 0) - 1, -1, -1):
            if place in self._led:  # the ops of a replica ask one after the other
                found = self._led[place]
                break
            passed.append(place)
            stack = self._stack_of(ops[place])
            own = [i for i, frame in enumerate(stack) if not is_library(frame.file)]
            if own and not _begins_in_thread(stack):
                found = stack[: own[-1] + 1]
                break
        self._led |= dict.fromkeys(passed, found)
        return found

    def __contains__(self, name: object) -> bool:
        try:
            return bool(self[str(name)])
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return (op.name for op in self._graph.get_operations())

    def __len__(self) -> int:
        version = self._graph.version  # a recording asks with every run, and to list 100 000 ops takes 0.3 s
        if self._counted[0] != version:
            self._counted = version, len(self._graph.get_operations())
        return self._counted[1]


_TRACEBACKS = Memo(GraphTracebacks)


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

    def place(self, name: str) -> Frame | None:
        """The same of the node in its own graph."""
        graph, node = self._places.get(name, (None, ""))
        return None if graph is None else tracebacks_of(graph).place(node)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
