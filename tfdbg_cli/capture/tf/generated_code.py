"""Code that AutoGraph generated, led back to the lines of the program that it was made of.

TensorFlow does so itself while it traces a function, for the thread that traces. Replicas of tf.distribute are traced
in threads of their own: there a function that was defined inside of another, and so was generated with it, is not led
back.
"""

from __future__ import annotations

import re

from tfdbg_cli.capture.tf import compat

_GENERATED = re.compile(r"(^|[/\\])__autograph_generated_file[^/\\]*\.py$")
Call = tuple[str, int, str]  # file, line, function

_origins: dict[str, dict[int, Call]] = {}  # by generated file, those that were asked for once


def written_call(call: Call) -> Call:
    """The line of the program that the line of `call` was made of; `call` itself where it was not made of one."""
    file, number, _ = call
    if not _GENERATED.search(file):
        return call
    if file not in _origins:
        _origins[file] = compat.generated_origins(file)
    return _origins[file].get(number, call)
