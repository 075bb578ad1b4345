"""What tfdbg adds to a dump directory: the folder `_tfdbg_cli`, which TensorFlow's own reader passes over.

    case.json        the call, the error, notes, why tensors have no values, which graph they belong to, what the
                     user ignores, how exact the run is, why it cannot be made again where that was found out,
                     which files the dump and this folder have
    tracebacks.json  creation stacks: texts, frames and stacks, each once
    profile.json     times of nodes, after a profiled run
    python_graph.pb  the program's graph, a GraphDef
    sources/NAME     the text of a source file; NAME is the SHA-256 of it, in hex
    feeds/N          the value of feed N, an Event as for a dumped tensor
    others/N         tensor N of those whose names cannot be names of files, an Event as well

Runs of one graph under one root share tracebacks.json, python_graph.pb and sources/ as hard links: read, never edit.

There is no pickle in it, and no name in it is ever used as a path: files are found by hash and by number.
"""

from __future__ import annotations

CASE_DIRECTORY = "_tfdbg_cli"
CASE = "case.json"
TRACEBACKS = "tracebacks.json"
PROFILE = "profile.json"
PYTHON_GRAPH = "python_graph.pb"
PARTS = (TRACEBACKS, PROFILE, PYTHON_GRAPH)
"""The files that a case has only where there is something to say."""
SOURCES = "sources"
FEEDS = "feeds"
OTHERS = "others"
FORMAT = 1
