"""What a function draws and adds up with others at once: who else holds it then decides the order of the sum."""

from __future__ import annotations

from collections.abc import Collection

from tfdbg_cli.capture.functions.optimized.compiled import Compiled, steady_name
from tfdbg_cli.capture.functions.optimized.kept_values import terms_of_sums
from tfdbg_cli.model.names import TensorName


def summed_draws(plain: Compiled | None, drawn: Collection[TensorName]) -> frozenset[TensorName]:
    """Those of `drawn` in whose memory a term of a long sum stands, by what the runtime makes of the plain function.

    Such a sum (AddN) begins with a term whose memory nobody else holds.
    """
    if plain is None or not drawn:
        return frozenset()
    terms = terms_of_sums({node.name: node for node in plain.optimized})
    found = {(steady_name(name), slot) for name, slot in terms}
    return frozenset(name for name in drawn if (name.node, name.slot) in found)
