"""Commands answer the same of a run, be it in memory, in a dump or in a recording."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.prompt import Prompt
from support.sample_run import sample_run

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.runs import Opened

COMMANDS = (
    "lt", "lt --stats", "lt -s dump_size -r", "lt -s worst", "lt -f has_inf_or_nan", "lt -l loss", "lt --shape '*,3'",
    "lt -q 'size>1KB or nan>0'", "lt -n '^x' -t Place", "pt loss/Log:0", "pt names:0", "pt big:0[0, :3]", "pt cold:0",
    "pt step/while/Add:0 -n 1", "pt half/Cast:0", "pt spectrum:0", "ni -a -d -t loss/Log", "li -r loss/Mean",
    "lo prob", "origin", "origin --all", "error_info", "ll", "lp", "placement", "ls", "ps train.py", "pf x:0",
    "history loss/Log:0", "runs", "run_info", "eval 'np.sum(`prob:0`)'", "timeline",
)  # fmt: skip


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Prompt, Prompt]:
    root = tmp_path_factory.mktemp("answers")
    run = sample_run(
        profile=Profile((NodeTime("loss/Log", "Log", "", 0.0, 1.0, 2.0),)),
        error=RunError("InvalidArgumentError", "a message", "loss/Log", "no inputs"),
        notes=("a note",),
    )
    writer = RecordingWriter(root / "recording")
    writer.write(run)
    writer.close()
    again = open_path(root / "recording").runs[0]
    return Prompt(Opened("here", [run])), Prompt(Opened("here", [again]))


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_recorded_is_answered_as_what_is_in_memory(prompts: tuple[Prompt, Prompt], command: str) -> None:
    live, recorded = prompts
    try:
        expected, told = live.show(command), live.data(command)
    except TfdbgError as error:
        assert str(recorded.error(command)) == str(error)
        return
    assert recorded.show(command) == expected
    assert recorded.data(command) == told


def test_a_dump_that_is_saved_as_a_recording_is_answered_as_the_dump(tmp_path: Path) -> None:
    write_dump(sample_run(), tmp_path / "dump")
    dump = open_path(tmp_path / "dump").runs[0]
    writer = RecordingWriter(tmp_path / "recording")
    writer.write(dump)
    writer.close()
    first, second = Prompt(Opened("", [dump])), Prompt(Opened("", open_path(tmp_path / "recording").runs))
    for command in ("lt --stats", "origin", "ni -a -d -t loss/Log", "li -r loss/Mean", "pt loss/Log:0", "ll", "ls"):
        assert first.show(command) == second.show(command), command
        assert first.data(command) == second.data(command), command
