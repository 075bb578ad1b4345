"""What a function draws and adds up with others at once: who else holds it then decides the order of the sum."""

from __future__ import annotations

from collections.abc import Collection

from tfdbg_cli.capture.functions.compiled import Compiled, steady_name
from tfdbg_cli.capture.functions.kept_values import LONG_SUM, NodeOutput, place_of
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import COPIES, RESHAPES


def summed_draws(plain: Compiled | None, drawn: Collection[TensorName]) -> frozenset[TensorName]:
    """Those of `drawn` in whose memory a term of a long sum stands, by what the runtime makes of the plain function.

    Such a sum (AddN) begins with a term whose memory nobody else holds.
    """
    if plain is None or not drawn:
        return frozenset()
    nodes = {node.name: node for node in plain.optimized}

    def memory(place: NodeOutput) -> NodeOutput:
        node = nodes.get(place[0])
        while node is not None and node.op in COPIES | RESHAPES:
            place = place_of(node.input[0])
            node = nodes.get(place[0])
        return place

    sums = [node for node in nodes.values() if "AddN" in node.op and node.attr["N"].i >= LONG_SUM]
    terms = {memory(place_of(text)) for node in sums for text in node.input if not text.startswith("^")}
    found = {(steady_name(name), slot) for name, slot in terms}
    return frozenset(name for name in drawn if (name.node, name.slot) in found)
