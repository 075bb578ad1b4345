"""To which layer a variable belongs."""

from __future__ import annotations

from tfdbg_cli.analysis.layers.layers import layers_of, scope_text
from tfdbg_cli.analysis.variables.listing import Variable
from tfdbg_cli.model.runs import Run


def layer_of(run: Run, variable: Variable) -> str:
    """The layer or name scope that reads the variable in the forward pass, else that of its updates or its name."""
    layers = layers_of(run.graph)
    readers = [reader.name for reader in variable.use.readers if reader not in variable.use.writers]
    if scope := layers.reading(variable.name, readers):
        return scope_text(scope)
    nodes = (*(writer.name for writer in variable.use.writers), variable.name)
    scopes = (layers.layer(name) for name in nodes)
    return next((scope_text(scope) for scope in scopes if scope), "")
