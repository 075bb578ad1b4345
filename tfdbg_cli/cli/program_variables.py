"""Asking a program for its variables: it runs in a process of its own, which ends once they are known."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tfdbg_cli.errors import TfdbgError

if TYPE_CHECKING:
    from tfdbg_cli.model.restoring import ProgramVariables

_FOLDER = str(Path(__file__).parents[2])
# Behind all other folders, so that the program finds every module where it would without us.
_START = (
    "import sys; folder = sys.argv.pop(1); folder in sys.path or sys.path.append(folder);"
    " from {module} import {function}; {function}(sys.argv[1:])"
)


def program_words(text: str) -> Sequence[str]:
    """The script and its arguments in `text`, which may also be the path of a script, spaces and all.

    Raises:
        TfdbgError: there is no such script.

    """
    if Path(text).exists():
        return [text]
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise TfdbgError(f"--against {text} cannot be read: {error}.", exit_code=2) from None
    if not words or not Path(words[0]).exists():
        hint = "Write: --against train.py, or --against 'train.py --size 3'."
        raise TfdbgError(f"There is no script {words[0] if words else text!r}.", hint=hint, exit_code=2)
    return words


def asked(words: Sequence[str]) -> ProgramVariables:
    """The variables of the program `words` when it first uses them. What it prints goes to standard error.

    Raises:
        TfdbgError: it ended before that.

    """
    from tfdbg_cli.cli.asked_program import main
    from tfdbg_cli.model.restoring import from_data

    start = _START.format(module=main.__module__, function=main.__name__)
    with TemporaryDirectory(prefix="tfdbg-") as folder:
        answer = Path(folder) / "variables.json"
        code = _exit_code(["-c", start, _FOLDER, str(answer), *words])
        try:
            found = from_data(json.loads(answer.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            raise _not_asked(words[0], code) from None
    if not found.variables:
        text = f"{words[0]} has no variables {found.moment}."
        hint = "A variable that no name leads to any more is gone by then."
        raise TfdbgError(text, hint=hint, exit_code=2)
    return found


def _exit_code(words: Sequence[str]) -> int:
    """Of `python WORDS`, run to its end without input; what it prints goes to standard error."""
    command = [sys.executable, *words]
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=2, check=False).returncode


def _not_asked(script: str, code: int) -> TfdbgError:
    """The error about a script that ended before it could be asked."""
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    hint = "What it wrote to standard error may say why. Does it run with `tfdbg run`?"
    if code == 0:
        hint = "Does it import TensorFlow, in the process that it is started in?"
    return TfdbgError(f"{script} {how}, and was not asked for its variables.", hint=hint, exit_code=2)
