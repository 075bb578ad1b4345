import traceback
from pathlib import Path

import tfdbg_cli
from tfdbg_cli.config.settings import settable
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.process.own_frames import is_own, leave_out_our_frames, our_files, without_our_frames


def _raise():
    settable("no such setting", "1")


def test_only_the_programs_frames_stay():
    try:
        _raise()
    except TfdbgError as error:
        whole, kept = error.__traceback__, without_our_frames(error.__traceback__)
    assert [frame.name for frame in traceback.extract_tb(whole)][-1] == "_known"
    assert [frame.name for frame in traceback.extract_tb(kept)] == ["test_only_the_programs_frames_stay", "_raise"]
    assert without_our_frames(None) is None


def test_of_what_an_error_was_raised_from_only_the_programs_frames_stay_too():
    caught = None
    try:
        try:
            _raise()
        except TfdbgError as first:
            first.__cause__ = ValueError()
            first.__cause__.__context__ = first  # in a circle
            raise KeyError from None
    except KeyError as second:
        caught = second
    leave_out_our_frames(caught)
    names = [frame.name for frame in traceback.extract_tb(caught.__context__.__traceback__)]
    assert names == ["test_of_what_an_error_was_raised_from_only_the_programs_frames_stay_too", "_raise"]


def test_a_frame_at_a_moment_without_a_line_stays():
    """A blind test: what a signal handler raised at such a moment was lost to a TypeError of ours."""
    code = compile("1 / 0", "train.py", "exec").replace(co_linetable=b"")
    whole = None
    try:
        exec(code)
    except ZeroDivisionError as error:
        whole = error.__traceback__
    lines = []
    for trace in (whole, without_our_frames(whole)):
        while trace.tb_next is not None:
            trace = trace.tb_next
        lines.append(trace.tb_lineno)
    assert lines == [None, None]


def test_the_examples_are_programs():
    file = str(Path(tfdbg_cli.__file__).parent / "examples" / "classifier.py")
    try:
        exec(compile("1 / 0", file, "exec"))
    except ZeroDivisionError as error:
        kept = without_our_frames(error.__traceback__)
    assert traceback.extract_tb(kept)[-1].filename == file


def test_our_files_are_known_by_name_but_for_the_examples():
    files = our_files()
    package = Path(tfdbg_cli.__file__).parent
    assert str(package / "cli" / "launch.py") in files
    assert str(package / "capture" / "intercept" / "all_functions.py") in files
    assert not any(file.startswith(str(package / "examples")) for file in files)


def test_all_of_the_package_is_ours_but_its_examples():
    package = Path(tfdbg_cli.__file__).parent
    assert is_own(str(package / "cli" / "launch.py"))
    assert is_own(str(package / "capture" / "tf" / "callers.py"))
    assert not is_own(str(package / "examples" / "keras_fit.py"))
    assert not is_own("/home/somebody/train.py")
