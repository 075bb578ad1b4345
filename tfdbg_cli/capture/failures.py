"""What tfdbg says when it fails itself: one sentence, and the program goes on."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections import Counter

from tfdbg_cli.analysis.error_text import first_line
from tfdbg_cli.errors import TfdbgError, reason_of
from tfdbg_cli.plain_text import safe
from tfdbg_cli.process.streams import to_stderr

_SAID: set[str] = set()
_COUNTED: Counter[str] = Counter()  # what was reported, by its first line
_REMARKED: dict[str, object] = {}
_ALL_SAID = 3  # times that the same failure is reported
_POWER_OF_TEN = re.compile("10+")


def report(doing: str, error: Exception) -> None:
    """Say on standard error that tfdbg failed at `doing`; with TFDBG_DEBUG=1 where, too.

    A TfdbgError is the user's to mend, so its own words are enough. Of what fails in the same words in each run only
    the first three, and then the 10th, the 100th and so on, are said, with how many there were.
    """
    if isinstance(error, TfdbgError):
        said = "\n".join(map(safe, error.lines))
    else:
        said = f"could not {doing} ({_reason(error)}); the program goes on without it."
        _COUNTED[said] += 1
        times = _COUNTED[said]
        if times > _ALL_SAID:
            if not _POWER_OF_TEN.fullmatch(str(times)):
                return
            said += f" That was {times:,} times by now."
    if os.environ.get("TFDBG_DEBUG", "") not in {"", "0"}:
        said = "\n".join([said, "".join(traceback.format_exception(error)).rstrip()])
    to_stderr(said)


def _reason(error: Exception) -> str:
    """What `error` says, of one of TensorFlow's the kernel's own words: the stacks in it fill a screen."""
    known = sys.modules.get("tfdbg_cli.capture.tf.op_errors")  # not imported for it: TensorFlow may have failed to be
    if known is not None and isinstance(error, known.OpError):
        return f"{type(error).__name__}: {first_line(error.message or str(error))}"
    return reason_of(error)


def failed_times() -> int:
    """How often tfdbg has failed itself in this process, as reported."""
    return _COUNTED.total()


def report_bug(doing: str, error: Exception) -> None:
    """As `report`, but silent where `error` tells what stood in the way: an op that failed, or a TfdbgError."""
    from tfdbg_cli.capture.tf.op_errors import OpError  # a failure to import TensorFlow is reported here, too

    if not isinstance(error, TfdbgError | OpError):
        report(doing, error)


def report_once(doing: str, error: Exception) -> None:
    """As `report`, but once in this process for errors of the same words, since what is done for each op recurs."""
    said = f"{doing}: {reason_of(error)}"
    if said not in _SAID:
        _SAID.add(said)
        report(doing, error)


def remark(sentence: str) -> None:
    """Say `sentence` on standard error, once in this process, whichever threads come to it."""
    ours = object()
    if _REMARKED.setdefault(sentence, ours) is ours:
        to_stderr(sentence)
