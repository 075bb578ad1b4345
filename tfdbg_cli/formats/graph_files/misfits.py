"""What does not fit together in a graph that can be read: one changed letter of a name shows nowhere else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from tfdbg_cli.formats.graph_files.mended import Damages
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import node_of
from tfdbg_cli.ops.kinds import CALLS

_LEGAL = re.compile(r"[A-Za-z0-9_.\\/>-]+")  # what TensorFlow takes for the name of a node or of an op
_LEFT_OUT = "$unbound_inputs_"  # what TensorFlow calls inputs of a part of a graph that it wrote alone
_CALLED = ("f", "then_branch", "else_branch", "cond", "body", "branches")  # attributes that name functions


def tell_misfits(
    graph: Graph, damages: Damages, functions: Collection[str] | None = None, outside: Iterable[str] = ()
) -> None:
    """Note what of `graph` does not fit together, unless part of it could not be read anyway.

    `functions` are those that its nodes can call; None where they are not known. `outside` are tensors of it that
    are named elsewhere in the file.
    """
    if damages:
        return
    for text in (*_of_nodes(graph), *_of_calls(graph, functions), *_of_names_outside(graph, outside)):
        damages.note(text)


def tell_repeated(names: Iterable[str], damages: Damages) -> None:
    """Note which of `names`, those of nodes of one graph, stand there more than once."""
    for name, count in Counter(names).items():
        if count > 1:
            damages.note(f"{count:,} nodes are called {name}, of which the first is shown")


def _of_nodes(graph: Graph) -> Iterator[str]:
    for node in graph:
        for what, name in (("name", node.name), ("op", node.op_type)):
            if _LEGAL.fullmatch(name) is None:
                yield f"{node.name} has the {what} {name!r}, which TensorFlow takes for none"
        for name in dict.fromkeys(node.needs):
            if name not in graph and not name.startswith(_LEFT_OUT):
                yield f"{node.name} reads {name}, and there is no such node"


def _of_calls(graph: Graph, functions: Collection[str] | None) -> Iterator[str]:
    if functions is None:
        return
    for node in graph:
        if node.op_type in CALLS:
            for name in _called_by(node):
                if name not in functions:
                    yield f"{node.name} calls {name}, and there is no such function"


def _called_by(node: Node) -> Iterator[str]:
    for attribute in _CALLED:
        text = node.attributes.get(attribute, "")
        if text and not text.startswith("["):  # of a list texts hold the first few only
            yield text


def _of_names_outside(graph: Graph, outside: Iterable[str]) -> Iterator[str]:
    for name in dict.fromkeys(map(node_of, outside)):
        if name and name not in graph:
            yield f"{name} is said to be an argument or a result, and there is no such node"
