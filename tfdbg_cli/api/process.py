"""Debugging everything that a process runs: its sessions, its functions, and the callables that it names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.api.attendance import ui_name
from tfdbg_cli.api.process_debugger import ProcessDebugger, process_debugger
from tfdbg_cli.api.screen_beside import load_beside
from tfdbg_cli.capture.dump_folders import empty_folder
from tfdbg_cli.capture.intercept.debugged_function import DebuggedFunction
from tfdbg_cli.capture.own_draws import draws_to_tell_behind_a_recording
from tfdbg_cli.capture.runs.eager.call import eager_block
from tfdbg_cli.commands.asked.record_decision import record_decision
from tfdbg_cli.commands.asked.watch_decision import watch_decision
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.writer import refuse_unless_free
from tfdbg_cli.formats.recording.addresses import refuse_to_write
from tfdbg_cli.model.decision import Continue, RecordRun, RecordRuns
from tfdbg_cli.process.streams import to_stderr


def enable(ui_type: str | None = None, dump_root: str | None = None, thread_name_filter: str | None = None) -> None:
    """Debug every run of this process from now on: sessions, tf.functions, Keras. The next run stops at the prompt.

    Each call counts, and `disable` takes back one; inside another one, or under `tfdbg run`, it changes nothing.

    Args:
        ui_type: "curses" (or "tui") for the full screen, "readline" (or "line") for lines; None chooses.
        dump_root: where the dumps of runs that were stopped at are kept; without it they are not written.
        thread_name_filter: matched from the start of a thread's name; runs of other threads go by.

    Raises:
        ValueError: `dump_root` is a file or a folder that is not empty, or there is no such `ui_type`.

    """
    _configure(ui_type, dump_root, thread_name_filter).enable()


def disable() -> None:
    """Take back one `enable`: after as many, TensorFlow's classes are as they were."""
    process_debugger().disable()


@contextmanager
def debugging(
    ui_type: str | None = None,
    dump_root: str | None = None,
    thread_name_filter: str | None = None,
    *,
    eager: bool = False,
) -> Iterator[None]:
    """A context in which every run of this process is debugged. The arguments are those of `enable`.

    With `eager` the block itself is one run: its ops are recorded one by one as they run, and functions that it
    calls are part of it.
    """
    enable(ui_type, dump_root, thread_name_filter)
    try:
        with eager_block(process_debugger().controller, "block") if eager else nullcontext():
            yield
    finally:
        disable()


@contextmanager
def run(name: str = "run") -> Iterator[None]:
    """A context whose eager ops are one run, called `name`; does nothing while nothing is debugged.

    Without it each iteration of the program's loop is a run.
    """
    process = process_debugger()
    with eager_block(process.controller, name) if process.on else nullcontext():
        yield


def stop() -> None:
    """Stop at the prompt before the next run. Where nothing is debugged yet, debug every run from now on."""
    debugger = _enabled()
    debugger.recorder.unattended = False
    debugger.stop_next()


def set_watch(
    filter_name: str | None,
    exclude_node_names: str = "",
    *,
    keep: int = 0,
    values: str = "auto",
    bundle: str | os.PathLike[str] | None = None,
    skip_update: bool = False,
    benign: str = "",
) -> None:
    """Do not stop until a tensor passes the filter `filter_name`, as `run -f` does; None ends such a watch.

    Where nothing is debugged yet, debug every run from now on.

    Args:
        filter_name: such as "bad_result", "has_inf_or_nan", or "magnitude_above:1e4" for one with a number.
        exclude_node_names: a regex, searched anywhere in the name; such nodes are not looked at.
        keep: how many runs before the hit keep their values.
        values: how to get the values of the bad run: "keep" those of every run, "replay" that run, or "auto".
        bundle: a new folder into which the bad run is written, with all that is needed to make it again.
        skip_update: put the variables back as they were before the bad run.
        benign: with "has_inf_or_nan": "skip" does not stop at a run whose NaN and infinities are all intended or
            harmless, and ignores those places from then on; "stop" (or "") stops at it.

    Raises:
        TfdbgError: there is no such filter, the regex cannot be read, `bundle` is there already, or `keep` does not
            go with `values`.

    """
    if not isinstance(filter_name, str | None):
        raise TfdbgError(
            f"A watch asks for a filter by its name, and not for {filter_name!r}.",
            hint="A filter of your own gets a name by tfdbg_cli.add_tensor_filter(NAME, FILTER).",
        )
    decision = None
    if filter_name is not None:
        decision = watch_decision(
            filter_name,
            exclude_node_names,
            values=values,
            keep=keep,
            bundle=os.fspath(bundle) if bundle is not None else "",
            skip_update=skip_update,
            benign=benign,
        )
    _enabled().set_watch(decision)


def record(
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    every: int | None = None,
    only: str = "",
    layer: str = "",
    stats_only: bool = False,
    budget: str | int = 0,
    full: str = "drop",
    compress: bool = False,
    worker: str = "",
) -> AbstractContextManager[None]:
    """Record runs in the new folder `path`, without a stop.

    Without `every` and the arguments after it, only the next run is recorded, as a bundle from which `tfdbg replay`
    can make it again. With any of them (`full` alone does not count), the next run and every `every`-th after it are
    recorded, until the program ends or `stop_recording` is called; open them with `open_recording` or `tfdbg open`.
    If nothing is debugged yet, runs are debugged from now on, without stops. The outcome is told on the terminal.

    `with record(path): …` records every run of the block, or as `every` and the others say, and ends with it. One
    recording is on at a time: within the block there is no other, and behind it `record` ends the one that is on.

    Args:
        path: a folder that is empty or does not exist.
        force: of a single run: exceed the budgets of memory and disk, and replace a bundle that is at `path`.
        every: 1 for every run.
        only: a regex searched in node names; values are recorded of these nodes only, statistics of the others.
        layer: a layer of which values are recorded; of all other nodes only statistics.
        stats_only: record no values except those selected by `only` and `layer`, but statistics of every tensor,
            which TensorFlow computes where it can.
        budget: bytes that the recording may take, as a number or as in "4G"; 0 for half of what is free, which
            the workers of a job share.
        full: what to do when the budget is used up: "drop" the oldest runs, or "stop" recording.
        compress: compress values, which is slower to write and to read.
        worker: the name of this worker when all workers of a job record into `path`; "" takes it from TF_CONFIG.

    Raises:
        TfdbgError: the arguments make no sense, the recording cannot be written there, or a block records already.

    """
    text = os.fsdecode(path)
    _refuse_within_a_block(text)
    refuse_to_write(text)
    place = str(Path(text).expanduser().absolute())
    one = every is None and not (only or layer or stats_only or budget or compress or worker)
    if one:
        refuse_unless_free(Path(place), replace=force)

    def decided() -> RecordRuns:
        return record_decision(
            place,
            every=1 if every is None else every,
            only=only,
            layer=layer,
            stats_only=stats_only,
            budget=budget,
            full=full,
            compress=compress,
            worker=worker,
        )

    asked = None if one else decided()
    process = process_debugger()
    was_on = process.on
    debugger = _enabled()

    def begin(decision: RecordRuns) -> None:
        debugger.recorder.begin(decision)
        if not was_on:
            debugger.set_watch(None)
            debugger.recorder.unattended = True

    if asked is not None:
        begin(asked)
        return _recording(place, lambda: None)
    debugger.record(RecordRun(place, force), None if was_on else Continue())

    def of_the_block() -> None:
        debugger.stop_recording()  # of the next run alone, which was asked for until the block began
        begin(decided())

    return _recording(place, of_the_block)


_blocks: list[str] = []  # where `with record(…)` records now: at most one


def _refuse_within_a_block(path: str) -> None:
    """Raise where a block records: what is begun within it would end its recording."""
    if _blocks:
        raise TfdbgError(
            f"Nothing can be recorded in {path} within `with record(…)`: its runs go to {_blocks[0]}.",
            hint="End that block first, or call stop_recording().",
        )


@contextmanager
def _recording(path: str, enter: Callable[[], None]) -> Iterator[None]:
    """A context that ends the recording in `path`, for which `enter` is called when it begins.

    If that was ended within the block, another one that began there goes on.
    """
    _refuse_within_a_block(path)
    enter()
    recorder = process_debugger().debugger.recorder
    own = recorder.asked
    _blocks.append(path)
    try:
        yield
    finally:
        if recorder.asked is own:
            stop_recording()
        elif path in _blocks:
            _blocks.remove(path)


def stop_recording() -> None:
    """End a recording that `record` began: what was recorded is written when this returns.

    If a single run was to be recorded that has not come yet, none is.
    """
    _blocks.clear()
    debugger = process_debugger().debugger
    debugger.recorder.end()
    debugger.stop_recording()
    if sentence := draws_to_tell_behind_a_recording():
        to_stderr(sentence)


def add_tensor_filter(filter_name: str, tensor_filter: TensorFilter) -> None:
    """Make `tensor_filter(datum, tensor) -> bool` known to `run -f` and `lt -f` as `filter_name`."""
    process_debugger().debugger.add_filter(filter_name, tensor_filter)


def wrap_function(function: Any, ui_type: str | None = None) -> Any:
    """A proxy of `function` whose every call is debugged.

    Args:
        function: a tf.function, a concrete function, a function of a SavedModel, or a plain callable, whose eager
            ops are then recorded one by one.
        ui_type: as for `enable`.

    Raises:
        TypeError: it cannot be called.
        ValueError: there is no such `ui_type`.

    """
    process = _configure(ui_type, None, None)
    process.debugger.interruption.stand_by()
    load_beside(process.ui_type)
    return DebuggedFunction(function, process.controller)


def _enabled() -> Debugger:
    process = process_debugger()
    if not process.on:
        process.enable()
    return process.debugger


def _configure(ui_type: str | None, dump_root: str | None, thread_name_filter: str | None) -> ProcessDebugger:
    try:
        ui_name(ui_type)
    except TfdbgError as error:
        raise ValueError(str(error)) from None
    folder: Path | None = empty_folder(dump_root, "dump_root") if dump_root else None
    process = process_debugger()
    process.ui_type = ui_type or process.ui_type
    if folder is not None or thread_name_filter is not None:
        process.debugger.configure(dump_root=folder, thread_name_filter=thread_name_filter)
    return process
