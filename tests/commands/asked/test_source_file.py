"""A source file that is named by its line alone."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import made_run, op
from support.prompt import ask

from tfdbg_cli.errors import TfdbgError


@pytest.mark.parametrize(
    ("asked", "said", "hint"),
    [
        ("ps 9", "9 is no source file.", "A line is named with its file: `ps FILE:9`; `ls` lists the files."),
        (
            "ps -b 9",
            "print_source needs a file, as `ps FILE:9`.",
            "`ls` lists them; the last part of a path is enough.",
        ),
    ],
)
def test_a_line_alone_is_answered_with_how_a_line_is_named(asked: str, said: str, hint: str) -> None:
    with pytest.raises(TfdbgError) as caught:
        ask(asked, made_run(op("x", "Placeholder", value=np.ones(2))))
    assert (caught.value.message, caught.value.hint) == (said, hint)
