import traceback
from pathlib import Path

import tfdbg_cli
from tfdbg_cli.config import settable
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.own_frames import without_our_frames


def _raise():
    settable("no such setting", "1")


def test_only_the_programs_frames_stay():
    try:
        _raise()
    except TfdbgError as error:
        whole, kept = error.__traceback__, without_our_frames(error.__traceback__)
    assert [frame.name for frame in traceback.extract_tb(whole)][-1] == "settable"
    assert [frame.name for frame in traceback.extract_tb(kept)] == ["test_only_the_programs_frames_stay", "_raise"]
    assert without_our_frames(None) is None


def test_the_examples_are_programs():
    file = str(Path(tfdbg_cli.__file__).parent / "examples" / "classifier.py")
    try:
        exec(compile("1 / 0", file, "exec"))
    except ZeroDivisionError as error:
        kept = without_our_frames(error.__traceback__)
    assert traceback.extract_tb(kept)[-1].filename == file
