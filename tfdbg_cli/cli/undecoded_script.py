"""Scripts that are no text: Python's parser of files refuses them, in words that `compile` does not have."""

from __future__ import annotations

import ctypes
import os
from tempfile import TemporaryFile
from typing import Any

_FILE_INPUT = 257  # Py_file_input: whole modules, as scripts are


def run_as_file(source: bytes, file: str, names: dict[str, Any]) -> None:
    """Have Python do among `names` what it does with a script `file` of these bytes: as a rule it says what is wrong.

    Raises:
        SyntaxError: the bytes cannot be decoded, in Python's own words.

    """
    library, python = ctypes.CDLL(None), ctypes.pythonapi
    library.fdopen.restype = ctypes.c_void_p
    library.fdopen.argtypes = [ctypes.c_int, ctypes.c_char_p]
    run = python.PyRun_FileExFlags
    given = run.restype = ctypes.py_object
    run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, given, given, ctypes.c_int, ctypes.c_void_p]
    with TemporaryFile() as place:  # what was read may have been a pipe
        place.write(source)
        place.seek(0)
        stream = library.fdopen(os.dup(place.fileno()), b"rb")
        if not stream:
            raise MemoryError
        run(stream, os.fsencode(file), _FILE_INPUT, names, names, True, None)
