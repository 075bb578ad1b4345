"""Which ops TensorFlow computes while it reads a graph: to know shapes, it asks what stands in constants.

Nobody has to fetch them. A file is read, and TensorFlow's debugging ops write one or send a value to an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_definitions import only_computes
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.harmless_ops import HARMLESS
from tfdbg_cli.ops.kinds import PLACEHOLDERS

# What they give is known without the value that they read, where its shape is.
_OF_SHAPES = re.compile(r"\w*(Shape|Size|Rank)\w*")


def outside_when_read(definition: bytes) -> Mapping[str, str]:
    """The op types that are not known to be harmless, of nodes that may be computed while a GraphDef is imported.

    Those are the nodes that depend on no value of a run: on no op with state, no function, nothing that is fed. Each
    comes with the name of the first such node.

    Raises:
        DecodeError: it is no serialized GraphDef.

    """
    nodes = compat.v1.GraphDef.FromString(definition).node
    types = {node.name: node.op for node in nodes}
    readers: dict[str, list[str]] = {}
    for node in nodes:
        for text in node.input:
            if not text.startswith("^"):
                readers.setdefault(node_of(text), []).append(node.name)

    def waiting(name: str) -> Iterator[str]:
        return (reader for reader in readers.get(name, ()) if not _OF_SHAPES.fullmatch(types[reader]))

    later = set(reached((name for name, op_type in types.items() if _is_of_a_run(op_type)), waiting))
    found: dict[str, str] = {}
    for name, op_type in types.items():
        if name not in later and op_type not in HARMLESS:
            found.setdefault(op_type, name)
    return found


def _is_of_a_run(op_type: str) -> bool:
    return op_type in PLACEHOLDERS or not only_computes(op_type)
