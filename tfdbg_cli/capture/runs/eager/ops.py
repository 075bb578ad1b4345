"""Shows every op that Python has TensorFlow run eagerly, in whatever thread, to those who listen.

Op wrappers, gradient functions that a tape calls, updates of variables: all run ops by one of two functions of
TensorFlow's Python layer (`compat.EXECUTORS`). These two are replaced while somebody listens. So is the function by
which a tape calls the gradient of an op, to give the gradient's ops the layer of that op. TensorFlow's own op
callbacks are not used, since they see one thread only and cost more. Ops that a tape runs can be shown to a listener
later, many at once (`deferred_ops`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Protocol

import tensorflow as tf

from tfdbg_cli.capture.failures import report_once
from tfdbg_cli.capture.runs.eager.deferred_ops import THREADS, Tapes, runs_program
from tfdbg_cli.capture.runs.eager.log.forward_ops import ForwardOps
from tfdbg_cli.capture.runs.eager.program.name_scopes import SCOPE_CHANGES
from tfdbg_cli.capture.runs.eager.program.stacks import callers_known
from tfdbg_cli.capture.runs.eager.unseen_ops import report_unseen
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_definitions import function_name
from tfdbg_cli.capture.tf.patching import replace_methods
from tfdbg_cli.capture.tf.types import AttributeList, Method, OpInput, OpOutputs
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.own_frames import WITHOUT_OUR_FRAMES, leave_out_our_frames


class OpListener(Protocol):
    """Is told of every op, before and after it. What it raises is reported, and goes no further."""

    def begins(self, op_type: str, inputs: Sequence[OpInput]) -> Any:
        """An op is about to run in this thread. `ran` gets the result as `begun`, and is not called if it is None."""
        ...

    def ran(
        self, op_type: str, inputs: Sequence[OpInput], attributes: AttributeList, outputs: OpOutputs, begun: Any
    ) -> OpOutputs:
        """The op made `outputs` of `inputs` (lists flattened). Returns what the program gets, mostly `outputs`."""
        ...

    def failed(
        self, op_type: str, inputs: Sequence[OpInput], attributes: AttributeList, begun: Any, message: str
    ) -> None:
        """The op raised an error, which the program gets; its message there holds `message`."""
        ...

    @property
    def forward_ops(self) -> ForwardOps | None:
        """The ops of this thread to which gradients of a tape may belong; None where it does not listen."""
        ...


class _Several:
    """Several listeners as one."""

    def __init__(self, listeners: Sequence[OpListener]) -> None:
        self._listeners = listeners

    def begins(self, op_type: str, inputs: Sequence[OpInput]) -> Sequence[tuple[OpListener, Any]] | None:
        begun = [(one, one.begins(op_type, inputs)) for one in self._listeners]
        return [(one, token) for one, token in begun if token is not None] or None

    def ran(
        self,
        op_type: str,
        inputs: Sequence[OpInput],
        attributes: AttributeList,
        outputs: OpOutputs,
        begun: Sequence[tuple[OpListener, Any]],
    ) -> OpOutputs:
        for listener, token in begun:
            outputs = listener.ran(op_type, inputs, attributes, outputs, token)
        return outputs

    def failed(
        self,
        op_type: str,
        inputs: Sequence[OpInput],
        attributes: AttributeList,
        begun: Sequence[tuple[OpListener, Any]],
        message: str,
    ) -> None:
        for listener, token in begun:
            listener.failed(op_type, inputs, attributes, token, message)

    @property
    def forward_ops(self) -> ForwardOps | None:
        known = (one.forward_ops for one in self._listeners)
        return next((ops for ops in known if ops is not None), None)


class EagerOps:
    """The replaced functions. The originals are put back when the last listener goes."""

    def __init__(self) -> None:
        self._listeners: tuple[OpListener, ...] = ()
        self._heard: OpListener = _Several(())
        self._lock = threading.RLock()  # again by a signal handler that has ops listened to
        self._tapes = Tapes()
        self._undo: Callable[[], None] | None = None

    def listen(self, listener: OpListener) -> Callable[[], None]:
        """Tell `listener` of every op from now on, until what this gives is called."""
        with self._lock:
            if self._undo is None:
                self._undo = self._replaced()
            self._set((*self._listeners, listener))

        def end() -> None:
            with self._lock:
                self._set(tuple(one for one in self._listeners if one is not listener))
                if not self._listeners and self._undo is not None:
                    undo, self._undo = self._undo, None
                    undo()

        return end

    def _replaced(self) -> Callable[[], None]:
        """Replace the functions, until what this gives is called; all of them, or none where one fails."""
        with ExitStack() as undo:
            undo.callback(
                replace_methods(
                    (compat.EXECUTORS, compat.FAST_EXECUTOR, self._fast),
                    (compat.EXECUTORS, compat.SLOW_EXECUTOR, self._slow),
                    (compat.EXECUTORS, compat.TAPE, self._tape),
                    (compat.EXECUTORS, compat.NEW_TAPE, self._tapes.new),
                    *((compat.EXECUTORS, name, self._tapes.recorded) for name in compat.RECORDERS),
                )
            )
            undo.callback(compat.set_tape_gradient, compat.tape_gradient)
            undo.callback(self._tapes.forget)
            undo.callback(SCOPE_CHANGES.let_go)
            SCOPE_CHANGES.heed()
            compat.set_tape_gradient(self._gradient)
            return undo.pop_all().close

    def _set(self, listeners: tuple[OpListener, ...]) -> None:
        self._listeners = listeners
        self._heard = listeners[0] if len(listeners) == 1 else _Several(listeners)

    def _gradient(
        self,
        op_type: str,
        attributes: Any,
        count: int,
        inputs: Sequence[Any] | None,
        outputs: Sequence[Any] | None,
        slopes: Sequence[Any],
        *rest: Any,
    ) -> Any:
        """The replacement for `compat.tape_gradient`, whose ops belong to the scope of the forward op."""
        deferred = THREADS.here
        if deferred.allowed and runs_program(op_type):
            with deferred.within(tape=False):
                return self._gradient(op_type, attributes, count, inputs, outputs, slopes, *rest)
        known = op = None
        try:
            known = self._heard.forward_ops
            op = known.of(op_type, inputs, outputs, slopes) if known else None
        except our_errors() as error:
            report_once("find the op of a gradient", error)
        if known is None or op is None:
            return compat.tape_gradient(op_type, attributes, count, inputs, outputs, slopes, *rest)
        deferred.scope_changes()
        with known.gradient_of(op):
            found = compat.tape_gradient(op_type, attributes, count, inputs, outputs, slopes, *rest)
        deferred.scope_changes()
        known.gave(op, found)
        return found

    def _tape(self, original: Method) -> Method:
        def tape(handle: Any, *arguments: Any) -> Any:
            heard = len(self._listeners) > 1 or compat.eager_context().op_callbacks
            may_put_off = not heard and self._tapes.is_known(handle)
            # All gradients of this call of the tape share these callers, so they are walked only once.
            with WITHOUT_OUR_FRAMES, callers_known(0), THREADS.here.within(tape=may_put_off):
                return original(handle, *arguments)

        return tape

    # What a listener raises must not become an exception of the program. `report_unseen` says it.

    def _fast(self, original: Method) -> Method:
        def fast(*arguments: Any) -> OpOutputs:  # a context, op type, name, inputs, attributes
            deferred = THREADS.here
            if deferred.is_open:
                try:
                    outputs = original(*arguments)
                except compat.OpFailed as error:
                    deferred.fails(arguments, message_of(error))
                    raise
                try:
                    deferred.add(arguments, outputs)
                except our_errors() as error:
                    report_unseen(error, outputs)
                except BaseException as error:  # such as the user's decision to end the program
                    leave_out_our_frames(error)
                    raise
                return outputs
            heard, op_type = self._heard, arguments[1]
            try:
                given, others, listed = _FORMS[op_type]
                inputs: Sequence[OpInput] = arguments[given]
                begun = heard.begins(op_type, inputs)
            except our_errors() as error:
                begun = None
                report_unseen(error)
            except BaseException as error:  # such as the user's decision to end the program
                leave_out_our_frames(error)
                raise
            if begun is not None and deferred.thread.op_callbacks:
                return self._before_callbacks(original, arguments, deferred.thread, heard, begun)
            try:
                outputs = original(*arguments)
            except compat.OpFailed as error:
                if begun is not None:
                    self._fails(op_type, *parts_of(arguments), begun, message_of(error))
                raise
            if begun is None:
                return outputs
            try:
                if listed:
                    inputs = list(leaves(inputs))
                return heard.ran(op_type, inputs, arguments[others], outputs, begun)
            except our_errors() as error:
                report_unseen(error, inputs, outputs)
            except BaseException as error:  # such as the user's decision to end the program
                leave_out_our_frames(error)
                raise
            return outputs

        return fast

    def _before_callbacks(
        self, original: Method, arguments: tuple[Any, ...], thread: Any, heard: OpListener, begun: Any
    ) -> OpOutputs:
        """Run an op by `original` and show it to `heard` before the op callbacks of the program see it.

        A callback may raise for what the op gave (`tf.debugging.enable_check_numerics`), and run ops of its own.
        """
        callbacks: Sequence[Method] = thread.op_callbacks
        gets: list[Sequence[Any]] = []

        def show(op_type: str, _inputs: Any, _attributes: Any, outputs: Any, *_: Any) -> None:
            thread.op_callbacks = callbacks
            try:
                gave = list(outputs)
                got = heard.ran(op_type, *parts_of(arguments), gave, begun)
                if got is not gave:
                    gets.append(got)
            except our_errors() as error:
                report_unseen(error, outputs)

        thread.op_callbacks = called = [show, *callbacks]  # TensorFlow borrows the list: `called` keeps it alive
        try:
            outputs = original(*arguments)
        except compat.OpFailed as error:
            self._fails(arguments[1], *parts_of(arguments), begun, message_of(error))
            raise
        finally:
            thread.op_callbacks = callbacks
            called.clear()
        if not gets:
            return outputs
        return gets[0] if isinstance(outputs, list) else gets[0][0]

    def _slow(self, original: Method) -> Method:
        def slow(handle: Any, device: Any, op_type: Any, inputs: Any, attributes: Any, *rest: Any) -> OpOutputs:
            text, heard = function_name(op_type), self._heard
            THREADS.here.show()
            try:
                begun = heard.begins(text, inputs)
            except our_errors() as error:
                begun = None
                report_unseen(error)
            except BaseException as error:  # such as the user's decision to end the program
                leave_out_our_frames(error)
                raise
            try:
                outputs = original(handle, device, op_type, inputs, attributes, *rest)
            except BaseException as error:
                leave_out_our_frames(error)  # this frame is the innermost, which TensorFlow shows in any case
                if begun is not None and isinstance(error, (compat.OpFailed, tf.errors.OpError)):
                    self._fails(text, list(leaves(inputs)), attributes or (), begun, message_of(error))
                raise
            if begun is None:
                return outputs
            try:
                return heard.ran(text, inputs, attributes or (), outputs, begun)
            except our_errors() as error:
                report_unseen(error, inputs, outputs)
            except BaseException as error:  # such as the user's decision to end the program
                leave_out_our_frames(error)
                raise
            return outputs

        return slow

    def _fails(
        self, op_type: str, inputs: Sequence[OpInput], attributes: AttributeList, begun: Any, message: str
    ) -> None:
        try:
            self._heard.failed(op_type, inputs, attributes, begun, message)
        except our_errors() as error:
            report_once("look at an op that failed", error)


class _Forms(dict[str, tuple[slice, slice, bool]]):
    """By op type, where `fast` has its inputs and its attributes among its arguments; whether an input is a list."""

    def __missing__(self, op_type: str) -> tuple[slice, slice, bool]:
        inputs = compat.op_definition(op_type).input_arg
        first, end = 3, 3 + len(inputs)
        listed = any(one.number_attr or one.type_list_attr for one in inputs)
        self[op_type] = found = slice(first, end), slice(end, None), listed
        return found


_FORMS = _Forms()


def parts_of(arguments: tuple[Any, ...]) -> tuple[Sequence[OpInput], AttributeList]:
    """The inputs, lists laid out, and the attributes of an op that was run by `arguments`."""
    given, others, listed = _FORMS[arguments[1]]
    inputs = arguments[given]
    return list(leaves(inputs)) if listed else inputs, arguments[others]


def message_of(error: BaseException) -> str:
    """What an op says that has failed, before TensorFlow adds to it."""
    return str(getattr(error, "message", None) or "")


def leaves(value: OpOutputs | Sequence[OpInput]) -> Iterator[Any]:
    """The tensors and other values in `value`, which may be a list of lists, a single value, or None."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif value is not None:
        yield value


OPS = EagerOps()
