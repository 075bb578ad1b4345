"""The process that computes an expression of `eval` under a limit of memory and time, and how it is asked.

What an expression takes cannot be told beforehand, and NumPy cannot be stopped in the middle of an op. In a process
of its own the operating system keeps the limits, and the program that is being debugged never feels them.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tfdbg_cli.analysis.expression.expression import evaluate
from tfdbg_cli.analysis.expression.wire import packed, unpacked
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.pythons_folders import pythons_first

MOST_MEMORY = 2 << 30  # bytes beside the tensors, which are held twice
MOST_SECONDS = 20
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import answer; answer()"
# Threads of a linear algebra library claim memory that is never used.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def evaluate_apart(text: str, tensors: dict[str, Any]) -> Any:
    """The value of the expression `text`, computed in a process of its own; `tensors` are those it names.

    Raises:
        TfdbgError: as `evaluate`, or it takes more memory or time than there is for an expression.

    """
    path = json.dumps(list(map(str, pythons_first(sys.path))))  # the program's folder may hold a resource.py
    command = [sys.executable, "-I", "-c", _START.format(module=__name__), path]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **_ENVIRONMENT}, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise TfdbgError(
            f"The expression needs a process of its own, which cannot be started: {error.strerror or error}.",
            exit_code=2,
        ) from None
    with process:
        try:
            answer, _ = process.communicate(packed((text, tensors)), timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            raise _too_much(f"more than the {MOST_SECONDS} seconds") from None
        finally:
            process.kill()
    try:
        fine, value = unpacked(answer)
    except (ValueError, EOFError, TypeError):
        raise _too_much("more memory or time than") from None
    if not fine:
        raise TfdbgError(value[0], hint=value[1])
    return value


def _too_much(what: str) -> TfdbgError:
    return TfdbgError(f"The expression takes {what} that eval gives one.", hint="Slice the tensors first.")


def answer() -> None:
    """Compute what standard input asks for, within the limits, and write the answer: the side of the new process."""
    content = sys.stdin.buffer.read()
    text, tensors = unpacked(content)
    _limit(MOST_MEMORY + len(content))
    try:
        reply = packed((True, evaluate(text, tensors.__getitem__)))
    except TfdbgError as error:
        reply = packed((False, (error.message, error.hint)))
    except (MemoryError, RecursionError):
        reply = packed((False, ("The expression needs more memory than eval gives one.", "Slice the tensors first.")))
    except our_errors() as error:  # of what has no form here Python may have none either
        reply = packed((False, (f"The value cannot be written: {str(error).rstrip('. ')}.", "")))
    sys.stdout.buffer.write(reply)
    sys.stdout.flush()
    os._exit(0)  # nothing is to be tidied up


def _limit(most: int) -> None:
    """Let this process take `most` bytes more than it has, and a bounded time, without a core file."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    with suppress(OSError, ValueError):
        claimed = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (claimed + most, claimed + most))
