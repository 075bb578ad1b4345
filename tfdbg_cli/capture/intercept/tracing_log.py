"""The traces of the tf.functions that the program calls, noted when each is called first, as texts and numbers.

A trace is known again by its graph, which bears what was noted of it: so a call that traces nothing costs a look at
an attribute. Of the program's objects nothing is kept alive.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from types import FunctionType, MethodType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from tfdbg_cli.capture.failures import report_once
from tfdbg_cli.capture.functions.signature.argument_specs import Objects, signature_of
from tfdbg_cli.capture.intercept.worthwhile import is_worthwhile
from tfdbg_cli.capture.runs.function.tracing_notes import Entered
from tfdbg_cli.capture.tf import base_classes, compat
from tfdbg_cli.capture.tf.callers import is_tensorflows, users_call
from tfdbg_cli.capture.tf.op_definitions import loaded_name
from tfdbg_cli.capture.tf.types import AtomicFunction, ConcreteFunction, TfFunction
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.traces import ArgumentSpec, Signature, Trace, TracedCode
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.own_frames import is_own

_NOTED = "_tfdbg_noted"  # the attribute of a graph with what was noted of it
MOST_OF_A_FUNCTION, MOST = 1_000, 10_000
_DEEP = 3


class _Noted:
    """What was noted of one trace; `count` goes on."""

    __slots__ = ("count", "creates_variables", "nested", "owner", "place", "seconds", "signature")

    def __init__(self, signature: Signature, owner: int) -> None:
        self.signature = signature
        self.owner = owner
        self.count = 0
        self.seconds: float | None = None
        self.place: Frame | None = None
        self.nested = False
        self.creates_variables = False

    def trace(self) -> Trace:
        """It, as it is now."""
        return Trace(
            self.signature, self.count, self.seconds, self.place, self.owner, self.nested, self.creates_variables
        )


@dataclass
class _Code:
    """The tf.functions of one Python function."""

    name: str
    file: str
    line: int
    is_method: bool
    noted: list[_Noted] = field(default_factory=list)
    owners: WeakKeyDictionary[Any, int] = field(default_factory=WeakKeyDictionary)
    owner_count: int = 0
    left_out: int = 0
    specs: dict[ArgumentSpec, ArgumentSpec] = field(default_factory=dict)  # those that traces share

    def owner(self, function: TfFunction) -> int:
        """Which of the tf.functions of this code `function` is."""
        found: int | None = self.owners.get(function)
        if found is None:
            found = self.owners[function] = self.owner_count
            self.owner_count += 1
        return found

    def shared(self, signature: Signature) -> Signature:
        """`signature`, with what earlier ones have in common with it."""
        return tuple((name, self.specs.setdefault(spec, spec)) for name, spec in signature)


class TracingLog:
    """What was seen of the traces of all functions. Several threads may call functions at once."""

    def __init__(self, most_of_a_function: int = MOST_OF_A_FUNCTION, most: int = MOST) -> None:
        self._most_of_a_function = most_of_a_function
        self._left = most
        self._codes: dict[tuple[_Place, ...], _Code] = {}
        self._objects = Objects()
        # Never held while TensorFlow is called; again by a thread whose garbage calls a function as it goes.
        self._lock = threading.RLock()
        self._nothing = _Noted((), 0)  # of graphs that are not told of

    def functions(self) -> Sequence[TracedCode]:
        """The functions that are known by now. See `model.traces.TracesSeen`."""
        with self._lock:
            return tuple(
                TracedCode(
                    code.name, tuple(one.trace() for one in code.noted), code.file, code.line, code.is_method,
                    code.left_out,
                )
                for code in self._codes.values()
            )  # fmt: skip

    def calls(self, atomic: AtomicFunction, entered: Sequence[Entered]) -> None:
        """Note that `atomic` is called now, within calls of the tf.functions `entered`, the innermost last."""
        graph = compat.built_graph_of(atomic)
        noted: _Noted | None = getattr(graph, _NOTED, None)
        if noted is None:
            if not entered or graph is None:
                return
            try:
                noted = self._first_call(atomic, graph, entered)
            except our_errors() as error:  # the program goes on
                report_once("note a trace", error)
                return
        with self._lock:
            noted.count += 1

    def _first_call(self, atomic: AtomicFunction, graph: Any, entered: Sequence[Entered]) -> _Noted:
        """What is noted of `graph`, which is called first, and of older traces that tfdbg has not seen yet."""
        now, call = perf_counter(), entered[-1]
        if compat.is_initializer(atomic):
            call.initialized.append(now)
            return self._nothing
        traces = compat.traces_of(call.function)
        at = next((at for at, trace in enumerate(traces) if trace.graph is graph), None)
        if at is None:  # a gradient, or a concrete function that is called as such: it may be another one's trace
            return self._nothing
        if not _is_told_of(call.function):
            return self._bear(graph, self._nothing)
        began, place, nested = call.began, users_call(), len(entered) > 1
        first = at
        while first and not hasattr(traces[first - 1].graph, _NOTED):
            first -= 1
        for older, trace in enumerate(traces[first:at], first):
            if older < call.traces:
                self._note(call.function, trace)
            elif call.initialized:
                made = self._note(call.function, trace)
                made.seconds, made.place, made.nested = call.initialized[0] - began, place, nested
                made.creates_variables = True
                began = call.initialized[0]
        noted = self._note(call.function, traces[at])
        if at >= call.traces:
            noted.seconds, noted.place, noted.nested = now - began, place, nested
        return noted

    def _note(self, function: TfFunction, trace: ConcreteFunction) -> _Noted:
        signature = signature_of(trace, function.python_function, self._objects)
        code = self._code(function)
        with self._lock:
            there: _Noted | None = getattr(trace.graph, _NOTED, None)
            if there is not None:  # by a thread that called it at the same time
                return there
            if self._left <= 0 or len(code.noted) >= self._most_of_a_function:
                code.left_out += 1
                noted = _Noted((), 0)
            else:
                self._left -= 1
                noted = _Noted(code.shared(signature), code.owner(function))
                code.noted.append(noted)
            return self._bear(trace.graph, noted)

    def _bear(self, graph: Any, noted: _Noted) -> _Noted:
        setattr(graph, _NOTED, noted)
        return noted

    def _code(self, function: TfFunction) -> _Code:
        places = _places(function)
        with self._lock:
            found = self._codes.get(places)
            if found is None:
                found = self._codes[places] = _Code(*places[0])
        return found


def _is_told_of(function: TfFunction) -> bool:
    """Whether traces of `function` are of interest: not ours, nor those by which TensorFlow saves and loads."""
    place = _places(function, deep=0)[0]
    private = place.name.startswith("_") and is_tensorflows(place.file)
    return not (private or is_own(place.file)) and is_worthwhile(function.python_function)


class _Place(NamedTuple):
    """Where the Python code of a function is."""

    name: str
    file: str = ""
    line: int = 0
    is_method: bool = False


def _places(function: Any, deep: int = _DEEP) -> tuple[_Place, ...]:
    """The place of `function`, a tf.function or one of Python, then those of functions that it closes over.

    By these the steps of Keras that train are told from those that evaluate: one function makes both. Functions are
    followed `deep` times.
    """
    if loaded := loaded_name(function):
        return (_Place(loaded),)
    python = inspect.unwrap(getattr(function, "python_function", function))
    while not hasattr(python, "__code__") and isinstance(python, partial):
        python = inspect.unwrap(python.func)
    name = str(getattr(python, "__name__", type(python).__name__))
    code = getattr(python, "__code__", None)
    if code is None:
        return (_Place(name),)
    own = _Place(name, code.co_filename, code.co_firstlineno, isinstance(python, MethodType))
    cells = (getattr(python, "__closure__", None) or ()) if deep else ()
    within = (_places(item, deep - 1) for item in map(_content, cells) if _is_function(item))
    return own, *(place for places in within for place in places)


def _content(cell: Any) -> object:
    try:
        found: object = cell.cell_contents
    except ValueError:  # nothing is in it yet
        return None
    return found


def _is_function(item: object) -> bool:
    return isinstance(item, FunctionType | MethodType | base_classes.function_class())


TRACES = TracingLog()
