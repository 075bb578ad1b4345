"""One profile as what the prompt looks at: a run with times, and without tensors and a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.graph_files.mended import Damages
from tfdbg_cli.formats.profiles.facts import XLA, ProfileFacts
from tfdbg_cli.formats.profiles.profile_files import ProfileFile
from tfdbg_cli.formats.profiles.times import profile_facts
from tfdbg_cli.formats.recording.regular_file import read_whole
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text

NO_VALUES = "This is a profile: it keeps how long ops took, and neither values nor the graph."
_MOST_BYTES = (1 << 31) - 1  # what protobuf takes for one message
_MOST_SHARES = 3
_MOST_DEVICES = 4
_MOST_SAID = 3


def profile_call(number: int, file: ProfileFile) -> Call:
    """What lists tell of a profile; the file is not read for it."""
    return Call(number, RunKind.PROFILE, (), function=file.title)


def profile_run(number: int, file: ProfileFile) -> Run:
    """The profile as a run.

    Raises:
        TfdbgError: the file cannot be read.

    """
    facts, damages = read_profile(file)
    return Run(
        profile_call(number, file),
        profile=Profile(facts.times),
        notes=(*damages, *told(facts)),
        lacks=NO_VALUES,
        origin_path=str(file.path),
    )


def read_profile(file: ProfileFile) -> tuple[ProfileFacts, list[str]]:
    """What the profile tells, and sentences on what is damaged in it.

    Raises:
        TfdbgError: the file cannot be read.

    """
    try:
        data = read_whole(file.path, _MOST_BYTES)
    except OSError as error:
        hint = "Copy the file again, or make the profile anew: a few steps are enough."
        raise TfdbgError(f"Cannot read {file.path}: {error.strerror or error}.", hint=hint) from error
    except MemoryError as error:
        raise TfdbgError(f"{file.path} does not fit into memory.", hint="Profile fewer steps.") from error
    damages = Damages(file.path.name)
    if not data:
        damages.note("it is empty; the program writes it when the profile ends")
    facts = profile_facts(data, damages)
    return facts, damages.told()


def told(facts: ProfileFacts) -> Iterator[str]:
    """What the profile is, in sentences: of which host, how long, what took the time, and what it does not tell."""
    host = f"host {', '.join(facts.hosts)}" if facts.hosts else "a host that it does not name"
    if facts.times:
        yield f"Profile of {host}: {_time(_span(facts.times))} from the first op to the end of the last."
    else:
        yield f"Profile of {host}: none of its {facts.events:,} events is known as an op of TensorFlow."
    if facts.nameless:
        yield "The names of events stand behind their times: of a device where the file was cut off they are missing."
    yield from _shares(facts.times)
    yield from _steps(facts)
    for device, count in facts.unnamed.items():
        yield f"Left out on {device}: {count:,} that name no op (kernels of other libraries, copies)."
    if facts.left_out:
        yield f"{facts.left_out:,} more are left out: of one profile {len(facts.times):,} executions are read."
    yield from (f"The profiler says: {text}" for text in facts.said[:_MOST_SAID])
    yield "A profile holds times, no values and no lines of the program; eager ops are called by their type."
    if any(time.device.startswith("/device:") for time in facts.times):
        yield "Of an op on an accelerator the host lists the launch, the accelerator each kernel."
    if any(time.op_type == XLA for time in facts.times):
        yield f"Ops that XLA compiled into one are called as XLA calls that; their type here is {XLA}."


def _span(times: Sequence[NodeTime]) -> float:
    return max(time.start_us + time.exec_us for time in times)


def _shares(times: Sequence[NodeTime]) -> Iterator[str]:
    """What took most of the time, on each device."""
    spent: dict[str, Counter[str]] = {}
    executions: Counter[str] = Counter()
    for time in times:
        spent.setdefault(time.device, Counter())[time.op_type] += time.op_us  # type: ignore[assignment]
        executions[time.device] += 1
    for device in sorted(spent)[:_MOST_DEVICES]:
        total = sum(spent[device].values())
        shares = ", ".join(
            f"{op_type} {took / total:.0%}" for op_type, took in spent[device].most_common(_MOST_SHARES) if total > 0
        )
        count = executions[device]
        yield f"{device}: {count_text(count, 'execution')}, {_time(total)} of computing ({shares})."


def _steps(facts: ProfileFacts) -> Iterator[str]:
    by_name: dict[str, list[tuple[float, int]]] = {}
    for step in facts.steps:
        by_name.setdefault(step.name, []).append((step.spent_us, step.number))
    for name, steps in list(by_name.items())[:_MOST_DEVICES]:
        (least, _), (most, number) = min(steps), max(steps)
        if len(steps) == 1:
            yield f"The program marked 1 step ({name}), number {number}: {_time(most)}."
        else:
            times = f"{_time(least)} to {_time(most)} each, number {number} the longest"
            yield f"The program marked {len(steps):,} steps ({name}): {times}. All are listed together."


def _time(us: float) -> str:
    if us < 1e3:
        return f"{us:,.1f} us"
    return f"{us / 1e3:,.2f} ms" if us < 1e6 else f"{us / 1e6:,.2f} s"
