"""Makes every outermost call of a graph function a run, by replacing methods of TensorFlow's classes while wanted.

A program enters a tf.function by `__call__`; whatever it calls, a concrete function or a gradient included, comes
down to `call_flat` of the graph function that runs. The first tells what was called and whether it was traced, the
second is the run. What a function calls while it is traced, or in turn, is part of it and no run of its own. Where
functions run eagerly the run is the Python function; Keras then hands it to the `run` of a tf.distribute strategy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from time import perf_counter
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.controller import Controller
from tfdbg_cli.capture.failures import remark, report_once
from tfdbg_cli.capture.intercept.tracing_log import TRACES
from tfdbg_cli.capture.intercept.worthwhile import calls_program_back, is_step_or_own, is_worthwhile
from tfdbg_cli.capture.pipeline import performed
from tfdbg_cli.capture.runs.delivered import DELIVERIES
from tfdbg_cli.capture.runs.eager.call import EagerCall
from tfdbg_cli.capture.runs.eager.function_amid_eager import performed_amid_eager, performed_as_op, performed_within
from tfdbg_cli.capture.runs.eager.vectorized_calls import vectorizes
from tfdbg_cli.capture.runs.eager.watch import WHOLE_CALL
from tfdbg_cli.capture.runs.function.tracing_notes import Entered
from tfdbg_cli.capture.state.writing_threads import WRITING_THREADS
from tfdbg_cli.capture.tf import base_classes, compat
from tfdbg_cli.capture.tf.callers import called_by_coordinator, called_by_user
from tfdbg_cli.capture.tf.custom_devices import NOT_WATCHED, on_custom_device
from tfdbg_cli.capture.tf.memo import Memos
from tfdbg_cli.capture.tf.patching import replace_methods
from tfdbg_cli.capture.tf.reentrancy import AT_WORK, INSIDE, NAMED
from tfdbg_cli.capture.tf.types import AtomicFunction, EagerTensor, Method, OpOutputs, RunResult, TfFunction
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.own_frames import WITHOUT_OUR_FRAMES, our_files

_EAGERLY = tf.executing_eagerly  # found once: `tf` looks its names up anew each time
_COUNTS = "_tfdbg_counts"  # the attribute that marks graph functions of which each outermost call is a run
_CALLS_BACK: Memos[bool] = Memos(1)  # of graph functions of packages: whether the program is in them
_REPLICAS = (
    "Code that runs eagerly in several replicas, each in a thread of its own, is not recorded. "
    "Put it into a tf.function to see its values."
)
_SCHEDULED = (
    "What a ClusterCoordinator schedules runs on its workers, out of tfdbg's sight: it is neither watched nor "
    "recorded. To look into such a step, call it without the coordinator, in a program of one process."
)


class _Here(threading.local):
    """Of one thread: the tf.functions whose calls are under way, and the controller of a wrapped one."""

    def __init__(self) -> None:
        self.entered: list[Entered] = []
        self.controller: Controller | None = None  # that of a wrapped function, which is asked before any other
        self.noting = 0  # how deep INSIDE the program is still what runs: within wrapped callables that run eagerly


class Interception:
    """The replaced methods. Their users are counted; the originals are put back when the last one goes."""

    def __init__(self) -> None:
        self.everywhere: Controller | None = None
        self._here = _Here()
        self._users = 0
        self._lock = threading.RLock()
        self._undo: Callable[[], None] = _nothing

    def begin(self) -> None:
        """Replace the methods, unless they are."""
        with self._lock:
            if not self._users:
                compat.hide_frames(our_files())
                with ExitStack() as undo:
                    undo.callback(
                        replace_methods(
                            (base_classes.function_class(), "__call__", self._entering),
                            (compat.atomic_class(), "call_flat", self._running),
                            (base_classes.strategy_base(), "run", self._stepping),
                        )
                    )
                    undo.callback(DELIVERIES.count())
                    self._undo = undo.pop_all().close
            self._users += 1

    def end(self) -> None:
        """Take back one `begin`."""
        with self._lock:
            self._users -= 1
            if not self._users:
                self._undo()

    @contextmanager
    def asking(self, controller: Controller) -> Iterator[None]:
        """A context in which the calls of this thread ask `controller`."""
        before, self._here.controller = self._here.controller, controller
        try:
            yield
        finally:
            self._here.controller = before

    @contextmanager
    def noting(self) -> Iterator[None]:
        """A context in which a call is made whose traces are noted, though what it calls is not intercepted."""
        self._here.noting += 1
        try:
            yield
        finally:
            self._here.noting -= 1

    def _asked(self) -> Controller | None:
        """The controller that a call made now asks; None when the call is to be left alone."""
        controller = self._here.controller or self.everywhere
        if controller is None or INSIDE.holds() or not _EAGERLY():
            return None
        return controller

    def _entering(self, original: Method) -> Method:
        def enter_function(function: TfFunction, /, *arguments: Any, **keywords: Any) -> RunResult:
            controller = self._here.controller or self.everywhere
            with WITHOUT_OUR_FRAMES:
                if controller is None or INSIDE.holds():
                    noting = self._here.noting
                    if noting and noting >= INSIDE.depth:  # what runs is the program's, within a call that is noted
                        return self._noted(original, function, arguments, keywords)
                    return original(function, *arguments, **keywords)
                if tf.config.functions_run_eagerly() and _EAGERLY() and not NAMED.holds():
                    return self._eagerly(controller, original, function, arguments, keywords)
                DELIVERIES.lend((arguments, keywords))
                return self._noted(original, function, arguments, keywords)

        return enter_function

    def _noted(
        self, original: Method, function: TfFunction, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> RunResult:
        """Call `function`, noted as a call that is under way."""
        entered = self._here.entered
        entered.append(Entered(function, function.experimental_get_tracing_count(), perf_counter()))
        try:
            return original(function, *arguments, **keywords)
        finally:
            entered.pop()

    def _eagerly(
        self,
        controller: Controller,
        original: Method,
        function: TfFunction,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> RunResult:
        python = function.python_function
        if self._here.controller is None and not is_worthwhile(python):
            return original(function, *arguments, **keywords)
        made = EagerCall.of(python, lambda: original(function, *arguments, **keywords), arguments, keywords)
        return performed(controller, made)

    def _stepping(self, original: Method) -> Method:
        def run(strategy: Any, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
            with WITHOUT_OUR_FRAMES:
                return stepped(strategy, fn, args, kwargs, options)

        def stepped(strategy: Any, fn: Any, args: Any, kwargs: Any, options: Any) -> Any:
            controller = self._asked()
            # A tf.function is seen where it runs.
            named = NAMED.holds() or isinstance(fn, base_classes.function_class())
            if controller is None or named or not is_worthwhile(fn):
                return original(strategy, fn, args, kwargs, options)
            if strategy.num_replicas_in_sync > 1:
                if controller.watched is None:
                    remark(_REPLICAS)
                return original(strategy, fn, args, kwargs, options)
            made = EagerCall.of(fn, lambda: original(strategy, fn, args, kwargs, options), tuple(args), kwargs or {})
            return performed(controller, made)

        return run

    def _running(self, original: Method) -> Method:
        def call_flat(atomic: AtomicFunction, *inputs: EagerTensor) -> OpOutputs:
            with WITHOUT_OUR_FRAMES:
                if INSIDE.depth <= self._here.noting:
                    TRACES.calls(atomic, self._here.entered)
                around = None if INSIDE.holds() or AT_WORK.holds() or not _EAGERLY() else WHOLE_CALL.watch
                controller = self._asked()
                if (around or controller) is not None and on_custom_device(inputs):
                    remark(NOT_WATCHED)
                    return original(atomic, *inputs)
                if around is not None:
                    return performed_within(around, atomic, inputs, original)
                if controller is None:
                    return original(atomic, *inputs)
                WRITING_THREADS.begin()
                try:
                    entered = self._here.entered[-1] if self._here.entered else None
                    if not getattr(atomic, _COUNTS, False):  # most calls are of functions that are known
                        if self._here.controller is None and vectorizes(atomic, entered):
                            return performed_as_op(controller, atomic, inputs, original)
                        if not self._counts(atomic, entered):
                            return original(atomic, *inputs)
                    return performed_amid_eager(controller, atomic, inputs, original, entered)
                finally:
                    WRITING_THREADS.end()

        return call_flat

    def _counts(self, atomic: AtomicFunction, entered: Entered | None) -> bool:
        """Whether a call of `atomic` is a run. A yes that does not depend on the caller is noted at `atomic`."""
        if compat.is_initializer(atomic):
            return False
        if entered is not None and is_step_or_own(entered.function.python_function):
            setattr(atomic, _COUNTS, True)
            return True
        if self._here.controller is not None or called_by_user():
            return True
        if called_by_coordinator():
            remark(_SCHEDULED)
            return False
        return entered is not None and _CALLS_BACK.of(atomic, None, partial(_has_program_in_it, atomic, entered))


def _has_program_in_it(atomic: AtomicFunction, entered: Entered) -> bool:
    """Whether the package's function `atomic` is made of code of the program's."""
    graph = compat.built_graph_of(atomic)
    try:
        return graph is not None and calls_program_back(entered.function.python_function, graph)
    except our_errors() as error:  # the call is left alone
        report_once("look at what a function was traced from", error)
        return False


def _nothing() -> None: ...


FUNCTIONS = Interception()


def intercept_all_functions(controller: Controller) -> Callable[[], None]:
    """Make every outermost call of a graph function ask `controller`, until what this gives is called."""
    FUNCTIONS.begin()
    FUNCTIONS.everywhere = controller

    def undo() -> None:
        FUNCTIONS.everywhere = None
        FUNCTIONS.end()

    return undo
