"""The variables of the environment by which TensorFlow chooses its kernels, and so last digits and what NaN becomes.

A kernel of oneDNN makes 0 of a NaN at the end of a layer (MatMul, BiasAdd and Relu in one), where TensorFlow's own
keeps it: a run made again under another setting is another run. Where nothing is set TensorFlow goes by the CPU.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from tfdbg_cli.formats.recording.json_fields import text_or_none
from tfdbg_cli.plain_text import printable

# Of XLA_FLAGS and TF_XLA_FLAGS some write files: a bundle of anybody must not set them.
KERNEL_CHOICES = ("TF_ENABLE_ONEDNN_OPTS", "TF_DETERMINISTIC_OPS", "NVIDIA_TF32_OVERRIDE")
_HARMLESS = re.compile(r"[A-Za-z0-9]{1,8}")
_MOST_SHOWN = 20  # characters of a value, which may be anything

Environment = Mapping[str, str | None]  # None: it was not set


def environment_now() -> dict[str, str | None]:
    """The variables as they are set in this process."""
    return {name: os.environ.get(name) for name in KERNEL_CHOICES}


def read_environment(fields: Mapping[str, Any]) -> dict[str, str | None]:
    """The variables in `fields`, those that tfdbg knows. Raises what `WRONG_CONTENT` lists where they are others."""
    return {name: text_or_none(fields[name]) for name in KERNEL_CHOICES if name in fields}


def take_over(environment: Environment) -> None:
    """Set what was set where the run was made and is not set here, as long as TensorFlow is not loaded.

    A value that no such variable has in earnest is not set: `differences` tells of it.
    """
    if "tensorflow" in sys.modules:
        return
    for name, value in environment.items():
        if value is not None and _HARMLESS.fullmatch(value):
            os.environ.setdefault(name, value)


def differences(environment: Environment) -> Iterator[str]:
    """A sentence for each variable that is set otherwise here, so that numbers may be others."""
    for name, value in environment.items():
        here = os.environ.get(name)
        if here != value:
            yield (
                f"The run was made {_setting(name, value)}, and this is {_setting(name, here)}: TensorFlow may take"
                " other kernels, and numbers and NaN may differ."
            )


def _setting(name: str, value: str | None) -> str:
    if value is None:
        return f"without {name}"
    shown = printable(value)
    return f"with {name}={shown if len(shown) <= _MOST_SHOWN else shown[:_MOST_SHOWN] + '…'}"
