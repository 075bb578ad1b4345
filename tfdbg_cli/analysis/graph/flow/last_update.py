"""The op that wrote what a variable holds after a run: it stands for the node that shows the variable then."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.updates import UPDATED_VARIABLE, updated_variable
from tfdbg_cli.ops.effects import updates_variable


def made_by(graph: Graph, name: str) -> str:
    """The node whose line tells where `name` was made: of a variable after its update the last op that wrote it.

    Of any other node, and where no op is known to have written the variable, it is `name` itself.
    """
    node = graph.find(name)
    if node is None or node.op_type != UPDATED_VARIABLE:
        return name
    writers = [found for update in node.control_inputs if (found := graph.find(update)) is not None]
    if not writers and node.inputs:
        variable = node.inputs[0].node
        region = region_shown(node)
        there = [reader for reader, _ in graph.consumers(variable) if _writes(reader, variable)]
        writers = [writer for writer in there if writer.name.startswith(f"{region}/")] if region else there
    return writers[-1].name if writers else name


def _writes(reader: Node, variable: str) -> bool:
    return bool(reader.inputs) and updates_variable(reader.op_type) and reader.inputs[0].node == variable


def region_shown(end: Node) -> str:
    """The branch or the body of a loop at whose end the node `end` shows a variable: the path before its name.

    Empty where the run's own function ends.
    """
    variable = end.inputs[0].node if end.inputs else ""
    return updated_variable(end.name).removesuffix(variable).rstrip("/") if variable else ""


def variable_shown(node: Node) -> str:
    """The variable that `node` shows after its update: its own name, where a branch or a loop stands before it."""
    name = updated_variable(node.name)
    own = node.inputs[0].node if node.inputs else name
    return own if name.endswith(f"/{own}") else name


def line_of(run: Run, name: str) -> Frame | None:
    """The line of the program that made the node `name` of `run`, or what a variable holds after its update."""
    return made_at(run.tracebacks, made_by(run.graph, name))
