"""What `tfdbg doctor` says of event sets: what they hold, what is missing and why, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tfdbg_cli.formats.event_sets.event_set import EventSet
from tfdbg_cli.formats.event_sets.file_names import KINDS
from tfdbg_cli.formats.event_sets.health import DebugMode, records_text
from tfdbg_cli.formats.event_sets.listing import EventFiles, event_sets
from tfdbg_cli.formats.event_sets.records import RecordFile
from tfdbg_cli.formats.recording.dates import date_text
from tfdbg_cli.formats.recording.format import Examination, NamedPath
from tfdbg_cli.model.units import count_text

_BUFFER = 1_000  # events that TensorFlow keeps unless told otherwise
_LAYOUT = "debug.Event:1"
_UNLIMITED = "circular_buffer_size=-1"
_LEFT_OUT = (
    "op_regex, tensor_dtypes and jit_compile=True can leave out all of it; so is a function that was traced before"
    " enable_dump_debug_info was called."
)


def examine(place: NamedPath) -> Examination:
    """All that can be said of the event sets in `place`; reads every file of them once."""
    sets = event_sets(place.path, place.names)
    facts: list[str] = []
    troubles: list[tuple[str, str]] = []
    for files in sets:
        found, wrong = _examined(files)
        facts += found
        troubles += wrong
    if len(sets) > 1:
        troubles.append(
            (
                f"{len(sets)} runs of programs wrote into this folder; TensorFlow's own reader refuses it.",
                "tfdbg shows them one behind the other. Give each run of a program a dump_root of its own.",
            )
        )
    return Examination("a log directory of Debugger V2", tuple(facts), tuple(troubles))


def _examined(files: EventFiles) -> tuple[list[str], list[tuple[str, str]]]:
    events = EventSet(files)
    events.graphs.look()
    mode = events.mode()
    known = {file.path: file for file in (*events.executions.files, *events.traces.files, *events.graphs.files)}
    read = [
        file.again() if (file := known.get(host.file(kind).path)) else host.file(kind)
        for host in files.hosts
        for kind in KINDS
    ]
    looked_at = {file.path: _looked_at(file) for file in read}
    executions = len(events.executions)
    traces = sum(looked_at[file.path].records for file in events.traces.files)
    facts = [
        f"Run {files.run_id or 'without an id'}, begun {date_text(files.started)}, TensorFlow {files.version or '?'},"
        f" {count_text(len(files.hosts), 'host')}.",
        f"{count_text(executions, 'eager execution')}, {count_text(traces, 'tensor')} of graphs:"
        f" {count_text(len(events.spans), 'run')}.",
    ]
    if mode is not None:
        facts.append(f"Mode {mode.name}: it records {records_text(mode)}.")
    wrong = (text for found in looked_at.values() for text in found.wrong)
    texts = dict.fromkeys((*files.notes, *wrong))  # a file that was read twice tells the same of its damage
    troubles = [(text, _advice(text)) for text in (*texts, *_empty_files(events, traces))]
    if files.layout and files.layout != _LAYOUT:
        told = f"The files are of the layout {files.layout}, which this tfdbg does not know."
        troubles.append((told, "A newer tfdbg may read more of it."))
    return facts, troubles + _emptiness(events, executions, traces, mode)


def _empty_files(events: EventSet, traces: int) -> list[str]:
    """What should be in files that are empty, in sentences: whatever is executed has code and devices."""
    called = any(span.call and not span.is_open for span in events.spans)
    wanted = {"graph_execution_traces": "functions were called"} if called else {}
    if traces or len(events.executions):
        wanted |= dict.fromkeys(("graphs", "stack_frames", "source_files"), "something was executed")
    paths = ((host.file(kind).path, why) for host in events.files.hosts for kind, why in wanted.items())
    return [f"The file {path.name} is empty, although {why}." for path, why in paths if _is_empty(path)]


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except OSError:
        return False  # that it is missing is told


def _emptiness(events: EventSet, executions: int, traces: int, mode: DebugMode | None) -> list[tuple[str, str]]:
    """Why executions or traces are likely missing from an event set: sentences, each with the way out."""
    gone = [name for host in events.files.hosts for name in host.missing("execution", "graph_execution_traces")]
    if not executions and not traces and gone:
        return []  # that files are missing is told: nobody knows what was written to them
    if not executions and not traces:
        return [
            (
                "Nothing that was executed was written.",
                f"Events are kept in memory, the last {_BUFFER:,} of them, and written at the end: the program may"
                " still run, or was killed. Call FlushExecutionFiles() of what enable_dump_debug_info gives, or pass"
                f" {_UNLIMITED}. Only the thread that enabled it is looked at, and nothing inside jit_compile=True.",
            )
        ]
    found = []
    if not executions and not any(name.endswith(".execution") for name in gone):
        found.append(
            (
                "No eager execution was written: a program of graphs and sessions has none.",
                "All tensors are in one run; `execution` counts what was computed again.",
            )
        )
    if _BUFFER in (executions, traces):
        found.append(
            (
                f"Exactly {_BUFFER:,} events are there, as many as TensorFlow keeps: what was before is lost,"
                " the first NaN perhaps with it.",
                f"Run the program again with {_UNLIMITED}.",
            )
        )
    if mode in (DebugMode.NO_TENSOR, DebugMode.SHAPE):
        found.append(
            (
                f"In the mode {mode.name} nobody can tell where a NaN began.",
                'Run the program again with tensor_debug_mode="FULL_HEALTH", or "FULL_TENSOR" for values.',
            )
        )
    return found


def _advice(trouble: str) -> str:
    if "cut off" in trouble:
        return "What was written before is shown. If the program still runs, look again later, or use `tfdbg tail`."
    if "is empty, although" in trouble:
        more = f" {_LEFT_OUT}" if "traces" in trouble else ""
        return f"Copy the file again: what it told is not shown.{more}"
    if "missing" in trouble:
        return "Copy all files of the set into one folder: they belong together."
    return "What is not damaged is shown. Copy the file again, or run the program again."


@dataclass(frozen=True, slots=True)
class _LookedAt:
    """A file of which all records were read: how many it has, and what is wrong with it."""

    records: int
    wrong: Sequence[str]


def _looked_at(file: RecordFile) -> _LookedAt:
    """`file`, read once, all of its checksums compared."""
    records = wrong = 0
    first = ""
    for some in file.stretches():
        sound = some.sound()
        bad = some.offsets[~sound].tolist()
        records, wrong = records + len(some), wrong + len(bad)
        first = first or (str(file.damage(bad[0], "its checksum does not fit")) if bad else "")
    more = f" So it is with {wrong - 1:,} more of its records." if wrong > 1 else ""
    return _LookedAt(records, [*file.troubles, *([first + more] if wrong else [])])
