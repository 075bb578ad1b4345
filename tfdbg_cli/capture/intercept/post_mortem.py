"""An exception that leaves the program: the run that it came from, and the Python calls that it left."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from types import TracebackType

from tfdbg_cli.capture.pipeline import LEFT_CALL, was_shown
from tfdbg_cli.capture.runs.eager.watch import EagerWatch
from tfdbg_cli.capture.tf.callers import frame_at, is_users
from tfdbg_cli.capture.tf.op_errors import OpError, run_error
from tfdbg_cli.errors import words_of
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.runs import Run
from tfdbg_cli.process.own_frames import is_own

_NOTE = "This exception ends {}. `frames` and `locals` show the Python that it came through."
_MOST_CAUSES = 8
_PACKAGES = frozenset({"tensorflow", "keras", "tf_keras"})
_AFTER = (
    "The exception came after this run, of which no values were taken. `tfdbg run --watch --keep 3 SCRIPT` keeps"
    " those of the last three runs."
)

_BEFORE = (
    "The exception came before any run, as one does that TensorFlow or Keras raises while it makes a graph: there are"
    " no values."
)


def run_that_failed(error: Exception, number: int, watch: EagerWatch, thread: str = "") -> Run | None:
    """The run that `error` came from; where it came from none, the last run of the program, which has this `number`.

    None where the prompt was open already on the error, or on one in its chain of causes, and where there was no run
    and the error did not come through TensorFlow or Keras; of one that ends the `thread` of that name alone, where it
    came neither from a run nor through these.
    """
    if was_shown(error):
        return None
    failure = run_error(error) if isinstance(error, OpError) else RunError(type(error).__name__, words_of(error))
    failure = replace(failure, causes=tuple(_causes(error)))
    frames = _frames(error.__traceback__)
    here = threading.current_thread().name
    found = LEFT_CALL.by(error)
    if found is not None:
        plan, made = found
        run = made.uncaptured(made.described(plan.number or number + 1, here), failure)
        notes = run.notes
    else:
        of_section = watch.broken_off(failure, frames, number)
        of_program = number and not thread
        if of_section is None and not of_program and not _came_through_tensorflow(error.__traceback__):
            return None
        words, lacks = ("after", _AFTER) if number else ("before", _BEFORE)
        last = Call(number or 1, RunKind.EAGER, (), thread=here, function=f"{words} which the program")
        run = of_section or Run(last, error=failure, lacks=lacks)
        notes = run.notes if of_section else (lacks,)
    ends = f"the thread {thread}" if thread else "the program"
    return replace(run, frames=frames, notes=(_NOTE.format(ends), *notes))


def _causes(error: BaseException) -> Iterator[str]:
    """The exceptions in the chain behind `error`, which Python prints above it, each with the program's line."""
    met = {id(error)}
    while len(met) <= _MOST_CAUSES:
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None or id(cause) in met:
            return
        met.add(id(cause))
        at = next(
            (frame.place for frame in reversed(_frames(cause.__traceback__)) if is_users(frame.place.file)), None
        )
        place = "" if at is None else f" at {at.file}:{at.line} in {at.function}"
        words = str(cause).partition("\n")[0]
        yield f"{type(cause).__name__}{f': {words}' if words else ''}{place}"
        error = cause


def _steps(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _came_through_tensorflow(trace: TracebackType | None) -> bool:
    """Whether a call of TensorFlow or Keras is among those that the exception left."""
    modules = (str(step.tb_frame.f_globals.get("__name__")) for step in _steps(trace))
    return any(name.partition(".")[0] in _PACKAGES for name in modules)


def _frames(trace: TracebackType | None) -> tuple[LiveFrame, ...]:
    """The calls that the exception left, from the first one of the program on, outermost first, without ours."""
    found: list[LiveFrame] = []
    for step in _steps(trace):
        code = step.tb_frame.f_code
        if not is_own(code.co_filename) and (found or is_users(code.co_filename)):
            found.append(LiveFrame(frame_at(code, step.tb_lineno), step.tb_frame.f_locals, step.tb_frame.f_globals))
    return tuple(found)
