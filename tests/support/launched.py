"""Programs run in a process of their own, as a person runs them, with tfdbg or without."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from support.warm_python import PipedProgram, can_be_warm, run_warm

ROOT = Path(__file__).parents[2]


def launched(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The script run to its end, under `tfdbg run` with `arguments` if there are any: see `python`."""
    tool = ["-m", "tfdbg_cli", "run", *arguments] if arguments else []
    return python(*tool, script)


def python(
    *words: object,
    folder: Path = ROOT,
    given: str | None = None,
    environ: Mapping[str, str] = os.environ,
    timeout: float = 280,
    anew: bool = False,
) -> subprocess.CompletedProcess[str]:
    """What `python WORDS` does in `folder`, with `given` in a pipe as its input, or none; `timeout` is in seconds.

    It is a fork of a process that has TensorFlow imported, which saves seconds; with `anew` a new interpreter, as
    where flags are for Python itself.

    Raises:
        subprocess.TimeoutExpired: it has not ended by then, and was killed.

    """
    texts = [str(word) for word in words]
    whole = {**environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    if not anew and can_be_warm(texts):
        return run_warm(texts, folder, whole, given, timeout)
    source = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [sys.executable, *texts],
        capture_output=True,
        text=True,
        cwd=folder,
        env=whole,
        timeout=timeout,
        check=False,
        **source,
    )


def begun(
    *words: object, folder: Path = ROOT, environ: Mapping[str, str] = os.environ
) -> subprocess.Popen[str] | PipedProgram:
    """`python WORDS`, which goes on: its input, output and errors are pipes of text. A fork, as in `python`."""
    texts = [str(word) for word in words]
    whole = {**environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    if can_be_warm(texts):
        return PipedProgram(texts, folder, whole)
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *texts], cwd=folder, env=whole, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )
