"""The one error type of tfdbg, what any error says, and which ones mean that a file holds something else."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.process.interruptions import our_errors


class TfdbgError(Exception):
    """Something the user at the terminal can act on.

    `message` states the cause in one sentence, `hint` the way out; `rows` are what it speaks of, such as the programs
    to choose from. Shown as a red line at a prompt, printed to standard error by `cli.main`, which is the one place
    that turns it into an exit code.

    `exit_code` is 1 for the user's mistake and 2 when tfdbg could not work.
    """

    def __init__(self, message: str, *, hint: str = "", rows: Sequence[str] = (), exit_code: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.rows = rows
        self.exit_code = exit_code

    @property
    def lines(self) -> list[str]:
        """What it says, the rows indented. A line break inside of one of them is a name's."""
        return [f"{self.message} {self.hint}".rstrip(), *(f"  {row}" for row in self.rows)]

    def __str__(self) -> str:
        return "\n".join(self.lines)


WRONG_CONTENT = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError)
"""What the wrong content of a JSON file can raise while it is taken apart."""


class AfterAnswerError(TfdbgError):
    """The answer was written, and is not all that was asked for: with `--json` no second object is written."""


class NothingYetError(TfdbgError):
    """The recording has no run yet, but may get some: whoever follows it should wait and try again."""


def words_of(error: BaseException) -> str:
    """What `error` says; nothing where it cannot say it, as an exception of the program's may not."""
    try:
        return str(error)
    except our_errors():
        return ""


def reason_of(error: BaseException) -> str:
    """What `error` says, to stand behind a colon: the words of a TfdbgError, of any other its type as well."""
    return str(error) if isinstance(error, TfdbgError) else f"{type(error).__name__}: {words_of(error)}"
