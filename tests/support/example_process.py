"""Running an example the way a person does: in a process of its own."""

from __future__ import annotations

import subprocess

from support.launched import python


def run_example(name: str, *flags: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """`python -m tfdbg_cli.examples.NAME FLAGS`, with `stdin` piped into it."""
    return python("-m", f"tfdbg_cli.examples.{name}", *flags, given=stdin)
