"""argparse whose errors are raised: by itself it prints them, and ends the process."""

from __future__ import annotations

import argparse
from typing import NoReturn

from tfdbg_cli.errors import TfdbgError


class RaisingParser(argparse.ArgumentParser):
    """A parser of words that raises what is wrong with them, in the form that `failure` of a subclass gives it."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse found wrong: `message` is a sentence without its capital letter and its full stop."""
        raise self.failure(message)

    def failure(self, message: str) -> TfdbgError:
        """The error for `message`, with the way to help."""
        return TfdbgError(f"{message[:1].upper()}{message[1:]}.", hint=f"See `{self.prog} --help`.")
