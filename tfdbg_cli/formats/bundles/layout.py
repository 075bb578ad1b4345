"""A bundle: a dump of one run, and beside it, in the folder `repetition`, what it takes to make the run again.

    repetition.json   the kind of run, its inputs in order, what is fetched, digests, versions, variables of the
                      environment that choose kernels, the first bad tensor
    graph.pb          of a function a FunctionDefLibrary, of a session a GraphDef
    inputs/N          the value of input N: its elements as they lie in memory (row by row; types of less than a byte
                      take a byte each); texts as a serialized TensorProto
    replay.py         a short script that makes the run again with TensorFlow alone

There is no pickle in it, and no name in it is ever used as a path: files are found by number. The rest of the folder
is the dump itself (case_layout.py).
"""

from __future__ import annotations

from pathlib import Path

REPETITION_DIRECTORY = "repetition"
REPETITION = "repetition.json"
GRAPH = "graph.pb"
INPUTS = "inputs"
SCRIPT = "replay.py"
FORMAT = 1


def is_bundle(directory: Path) -> bool:
    """Whether `directory` looks like a bundle."""
    try:
        return (directory / REPETITION_DIRECTORY / REPETITION).is_file()
    except OSError:  # a name that is too long, a folder that nobody may look into
        return False
