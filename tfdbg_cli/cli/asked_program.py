"""A program that is run to be asked for its variables, in a process of its own which ends once it was.

`cli.program_variables` starts it, and reads the answer.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_cli.api.import_hook import after_import
from tfdbg_cli.cli import launch
from tfdbg_cli.process.interruptions import our_errors

if TYPE_CHECKING:
    from tfdbg_cli.capture.intercept.first_use import FirstUse
    from tfdbg_cli.model.restoring import ProgramVariables

_FAILED = 70  # the exit code: tfdbg failed, and not the program


def main(arguments: Sequence[str]) -> None:
    """Run the script with its arguments until it was asked: the answer goes to the file that is named first.

    The process ends in here, without what the program does at its end; where nothing could be asked, it ends as the
    program did.
    """
    answer = Path(arguments[0])
    start = launch.script_program(arguments[1], arguments[2:])
    asked: list[FirstUse] = []

    def begin() -> None:
        from tfdbg_cli.capture.intercept.first_use import FirstUse

        asked.append(FirstUse(lambda found: _end(answer, found), _fail))
        asked[0].begin()

    after_import("tensorflow", begin)
    moment = "at the end of the program, as it ran nothing that uses variables"
    exit_code: str | int | None = 0
    try:
        start()
    except SystemExit as ended:
        exit_code = ended.code
        if ended.code not in (None, 0):
            moment = "where the program called sys.exit"
    except our_errors() as error:  # such as assert_consumed: what was made by then is asked for
        sys.excepthook(type(error), error, error.__traceback__)  # which leaves our own frames out
        exit_code = 1
        moment = f"where the program raised {type(error).__name__}"
    if asked:
        _end(answer, asked[0].now(moment))
    sys.exit(exit_code)


def _fail(error: Exception) -> None:
    """End without an answer, and say why."""
    sys.excepthook(type(error), error, error.__traceback__)
    sys.stderr.flush()
    os._exit(_FAILED)


def _end(answer: Path, found: ProgramVariables) -> None:
    """Write what was found, and end: nothing that the program would do from here on happens."""
    answer.write_text(json.dumps(found.data()), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)
