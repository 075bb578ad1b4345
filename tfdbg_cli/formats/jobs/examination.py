"""What `tfdbg doctor` says of the folder of a job: each worker, what it recorded, whether it still does."""

from __future__ import annotations

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import examination, layout
from tfdbg_cli.formats.container.reader import RecordingReader
from tfdbg_cli.formats.jobs.root import workers_in
from tfdbg_cli.formats.recording.dates import date_text
from tfdbg_cli.formats.recording.format import UNCHECKED, Examination, NamedPath
from tfdbg_cli.formats.recording.writer_lock import is_being_written, writer_named
from tfdbg_cli.model.units import count_text

_WHAT = "a folder in which the workers of one job record"
_MICROSECONDS = 1e6
_ADVICE = "`tfdbg open` shows the other workers. `tfdbg doctor` on its folder tells more."


def examine(place: NamedPath) -> Examination:
    """All that can be said of the workers in `place`: what is wrong with the recording of each, too."""
    facts: list[str] = []
    troubles: list[tuple[str, str]] = []
    for worker in workers_in(place):
        try:
            reader = RecordingReader(place.path / worker)
            runs = reader.written()
        except TfdbgError as error:
            troubles.append((f"The worker {worker} cannot be read: {error.message}", error.hint or _ADVICE))
            continue
        facts.append(_told(worker, place, runs))
        if runs:
            found = examination.examine(NamedPath(place.path / worker), worker).troubles
            troubles += [(f"The worker {worker}: {text}", hint) for text, hint in found]
        else:
            troubles += [(f"The worker {worker}: {note}", _ADVICE) for note in reader.notes]
            troubles.append((f"The worker {worker} has finished no run.", "Was it stopped, or does it still start?"))
    if not facts and not troubles:
        troubles.append(("No worker has begun to record.", "Start each with the same --record PATH."))
    return Examination(_WHAT, (*facts, *([UNCHECKED] if facts else [])), tuple(troubles))


def _told(worker: str, place: NamedPath, runs: list[tuple[int, int]]) -> str:
    manifest = place.path / worker / layout.MANIFEST
    written = is_being_written(manifest)
    state = {True: f"{writer_named(manifest)} is recording", False: "nobody records any more", None: ""}[written]
    last = f", the last one {date_text(runs[-1][1] / _MICROSECONDS)}" if runs else ""
    return f"{worker}: {count_text(len(runs), 'run')}{last}{'; ' * bool(state)}{state}."
