"""One call of a Python callable whose ops run eagerly, not yet performed."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.budget import memory_budget
from tfdbg_cli.capture.controller import Action, Controller, Plan
from tfdbg_cli.capture.functions.signature.arguments import value_of
from tfdbg_cli.capture.interceptable import Capture
from tfdbg_cli.capture.pipeline import Reported, planned
from tfdbg_cli.capture.runs.eager.section import Section
from tfdbg_cli.capture.runs.eager.watch import EagerWatch, watch_of
from tfdbg_cli.capture.runs.function.capture import WithoutValues
from tfdbg_cli.capture.tf.callers import live_frames
from tfdbg_cli.capture.tf.compat import tensor_id
from tfdbg_cli.capture.tf.reentrancy import AT_WORK, INSIDE, NAMED
from tfdbg_cli.capture.tf.static_values import dimensions
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.model.calls import Call, CallArgument, RunError, RunKind
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.lazy_values import LazyValues
from tfdbg_cli.model.runs import Estimate, Run, RunStart
from tfdbg_cli.model.values import Lack, NoValue, Value

_NO_PROFILE = "Ops that run one by one are not profiled: this run has no times."


class EagerCall:
    """A call `call()` of Python code called `name`; its arguments are `given`, by name (`Interceptable`)."""

    def __init__(self, name: str, given: Mapping[str, Any], call: Callable[[], RunResult]) -> None:
        self.name = name
        self.given = given
        self._call = call

    @classmethod
    def of(
        cls,
        python: Callable[..., Any],
        call: Callable[[], RunResult],
        arguments: tuple[Any, ...],
        keywords: Mapping[str, Any],
    ) -> EagerCall:
        """The call `call()` of `python` with these arguments."""
        name = str(getattr(python, "__name__", type(python).__name__))
        return cls(name, _named(python, arguments, keywords), call)

    @property
    def looks_at(self) -> None:
        """Not known: each call may take another way through the code."""
        return

    def plain(self) -> RunResult:
        with INSIDE:
            return self._call()

    def pending(self, controller: Controller) -> PendingEagerCall:
        return PendingEagerCall(self, controller)

    def described(self, number: int, thread: str) -> Call:
        arguments = tuple(_argument(name, value) for name, value in self.given.items())
        feeds = LazyValues(self.given, _value)
        return Call(number, RunKind.EAGER, (), feeds, thread=thread, function=self.name, arguments=arguments)

    def capture(self, controller: Controller, plan: Plan) -> Capture:
        if plan.action is Action.PROFILE:
            return WithoutValues(self.plain, _NO_PROFILE)
        return EagerCapture(self, self._call, watch_of(controller), plan)

    def stopping(self, controller: Controller, plan: Plan) -> Capture:
        return EagerCapture(self, self._call, watch_of(controller), plan)

    def uncaptured(self, call: Call, failure: RunError) -> Run:
        lacks = "This run was not captured: it has no values."
        return Run(call, error=failure, notes=(lacks,), lacks=lacks)

    def with_inputs(self, run: Run) -> Run:
        return run


class EagerCapture:
    """One call whose ops are noted as they run: all of them, or, where a watch looks at them, the last ones.

    They are noted, too, where the plan leaves the call alone, for the program to be stopped at what is sought.
    Functions that a watched call calls are runs of their own; of one whose values are all kept they are a part.
    """

    def __init__(self, made: EagerCall, call: Callable[[], RunResult], watch: EagerWatch, plan: Plan) -> None:
        self._made = made
        self._call = call
        self._watch = watch
        self._plan = plan
        self._section: Section | None = None

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        with self.noting():
            return self._call()

    @contextmanager
    def noting(self) -> Iterator[None]:
        """A context in which the ops of this thread are noted as those of this call, and looked at by a watch."""
        given = self._made.given.items()
        names = {tensor_id(value): name for name, value in given if isinstance(value, tf.Tensor)}
        with NAMED, self._watch.naming(self._made.name, self._plan, names) as self._section:
            yield

    @property
    def reported(self) -> bool:
        """Whether the watch found something, and showed it, in the middle of the call, or nobody wants the run."""
        return self._is_left_alone or (self._section is not None and self._section.stopped)

    @property
    def _is_left_alone(self) -> bool:
        return self._plan.action is Action.LEAVE

    @property
    def passed(self) -> bool:
        """Whether every op was looked at."""
        return self._section is not None and not self._section.whole and self._watch.looks_at_ops

    @property
    def exactness(self) -> Exactness | None:
        return None

    def run(self, call: Call, error: RunError | None) -> Run:
        """The ops, up to one that failed."""
        assert self._section is not None
        if error is not None and self._is_left_alone and not self._watch.seeks:  # since when no op was noted
            return self._made.uncaptured(call, error)
        run = self._section.run(call.number, live_frames(), error, ended=True)
        feeds = {**call.feeds, **run.call.feeds}
        return replace(run, call=replace(call, feeds=feeds, came=run.call.came))

    def finish(self, keep: bool) -> None:
        """Nothing is left behind."""


class PendingEagerCall:
    """An eager call about to happen, as the debugger sees it (`controller.PendingRun`)."""

    def __init__(self, call: EagerCall, controller: Controller) -> None:
        self._call = call
        self._controller = controller

    def start(self, number: int) -> RunStart:
        return RunStart(self._call.described(number, threading.current_thread().name))

    def estimate(self, capture: CaptureRequest, watching: bool = False, directory: Path | None = None) -> Estimate:
        return Estimate(0, None, 0, memory_budget(self._controller.settings), "memory")

    def arguments(self) -> tuple[object, object]:
        return (), LazyValues(self._call.given, _value)


def _named(python: Callable[..., Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors, arrays and numbers among the arguments, by parameter; those in a structure get numbers."""
    try:
        bound = inspect.signature(python).bind(*arguments, **keywords).arguments
    except (TypeError, ValueError):
        bound = {**{f"argument_{index}": value for index, value in enumerate(arguments)}, **keywords}
    named: dict[str, Any] = {}
    for name, value in bound.items():
        leaves = list(_leaves(value))
        named.update({name if len(leaves) == 1 else f"{name}_{index}": leaf for index, leaf in enumerate(leaves)})
    return named


def _leaves(value: object) -> Iterator[Any]:
    if isinstance(value, tf.Tensor | tf.Variable | np.ndarray | np.generic | int | float | complex | str | bytes):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, tf.experimental.ExtensionType | tf.RaggedTensor | tf.SparseTensor | tf.IndexedSlices):
        yield from tf.nest.flatten(value, expand_composites=True)


def _argument(name: str, value: Any) -> CallArgument:
    if isinstance(value, tf.Tensor | tf.Variable):
        shape = dimensions(value.shape)
        return CallArgument(name, value.dtype.name, shape)
    array = np.asarray(value)
    return CallArgument(
        name, name_of(array.dtype), array.shape
    )  # a program may hand on what TensorFlow has no type for


def _value(given: Any) -> Value:
    if isinstance(given, tf.Tensor | tf.Variable):
        return value_of(given)
    array = np.asarray(given)
    if array.dtype.type is np.void:
        return NoValue(Lack.OPAQUE, "Its elements are records; they are not shown.")
    return array.astype(np.str_) if array.dtype.kind in "mM" else array  # dates, as people write them


@contextmanager
def eager_block(controller: Controller, name: str) -> Iterator[None]:
    """A context that is one run: its ops are recorded one by one, with the functions that it calls."""
    if INSIDE.holds() or NAMED.holds() or AT_WORK.holds():  # part of another run, or amid our work
        yield
        return
    made = EagerCall(name, {}, _nothing)
    plan, capture, failure = planned(controller, made)
    if failure is not None:
        failure.report()
    if plan is None:
        with INSIDE:
            yield
        return
    noting = capture.noting() if isinstance(capture, EagerCapture) else INSIDE
    with Reported(controller, plan, made, capture), noting:
        yield


def _nothing() -> None: ...
