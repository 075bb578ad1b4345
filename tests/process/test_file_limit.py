"""The limit on the size of files ends no program by what tfdbg writes."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tfdbg_cli.process.file_limit import file_limit

_TO_ITSELF = pytest.mark.skipif(not hasattr(signal, "sigtimedwait"), reason="Linux alone sends SIGXFSZ to a thread")


def _blocked() -> bool:
    return signal.SIGXFSZ in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@_TO_ITSELF
def test_what_is_written_beyond_it_sends_the_program_no_signal() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGXFSZ, lambda number, frame: seen.append(number))
    try:
        with file_limit() as limit:
            assert _blocked()
            assert not limit.met
            signal.pthread_kill(threading.get_ident(), signal.SIGXFSZ)  # as the kernel does
            assert limit.met
        assert not _blocked()
        assert not limit.met
        assert not seen
        signal.raise_signal(signal.SIGXFSZ)
        assert seen == [signal.SIGXFSZ], "what the program writes itself sends it one as ever"
    finally:
        signal.signal(signal.SIGXFSZ, before)


@_TO_ITSELF
def test_one_that_the_program_keeps_back_itself_stays_so() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGXFSZ})
    try:
        with file_limit():
            pass
        assert _blocked()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_PROGRAM = """
import resource, signal, sys
from pathlib import Path
from support.sample_run import sample_run
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.recording.writing import whole_directory
from tfdbg_cli.plain_files import replace_kept

writer = RecordingWriter(Path("recording"))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))

def folder():
    with whole_directory(Path("folder")) as place:
        (place / "large").write_bytes(bytes(1 << 20))

for write in (folder, lambda: replace_kept(Path("kept"), "x" * (1 << 20)), lambda: writer.write(sample_run())):
    try:
        write()
    except (TfdbgError, OSError) as error:
        print(error)
"""


@_TO_ITSELF
def test_a_program_that_it_would_end_goes_on(tmp_path: Path) -> None:
    """A blind test: a program was killed by what was recorded of it; and the reason was a `disk I/O error`."""
    command = [sys.executable, "-c", _PROGRAM, "30000"]
    own = {"PYTHONPATH": str(Path(__file__).parents[1]), "PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=60, check=False)
    too_large = f"[Errno {errno.EFBIG}] File too large"
    assert (done.returncode, done.stderr) == (0, "")
    folder, kept, recording = done.stdout.splitlines()
    assert folder.startswith("Cannot write folder: File too large. No file may grow that large here: `ulimit -f`")
    assert kept.startswith(too_large)
    assert recording.startswith("Cannot write recording: File too large. No file may grow that large here: `ulimit")
