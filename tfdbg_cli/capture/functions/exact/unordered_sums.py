"""Sums whose terms the runtime adds in the order in which they come, which is another one from run to run.

To save memory TensorFlow's optimizer makes additions to a temporary variable of a large `AddN` (memory_optimizer.cc:
`AddN/tmp_var_accum_0` and so on), between which nothing says which comes first. With three terms or more the last
digits of such a sum depend on that, whoever else reads what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tfdbg_cli.capture.functions.optimized.compiled import Compiled, steady_name
from tfdbg_cli.capture.functions.optimized.kept_values import LONG_SUM, place_of

_VARIABLE, _ADDITION, _INITIALIZER = "TemporaryVariable", "AssignAdd", "Assign"
_BEHIND = "/tmp_var"


def unordered_sums(plain: Compiled) -> Sequence[str]:
    """The names of such sums in what the runtime makes of a function."""
    variables = {node.name: steady_name(node.name) for node in plain.nodes if node.op == _VARIABLE}
    if not variables:
        return ()
    for node in plain.nodes:  # an addition reads the variable behind what puts zeros into it
        if node.op == _INITIALIZER and place_of(node.input[0])[0] in variables:
            variables[node.name] = variables[place_of(node.input[0])[0]]
    terms = Counter(
        variables[place_of(node.input[0])[0]]
        for node in plain.nodes
        if node.op == _ADDITION and place_of(node.input[0])[0] in variables
    )
    return [name.removesuffix(_BEHIND) for name, count in terms.items() if count >= LONG_SUM]
