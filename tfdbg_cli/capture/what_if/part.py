"""A part of a flat function, called with all its values kept, those of branches and loops included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfdbg_cli.capture.functions.definition.body import Body
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, Scope
from tfdbg_cli.capture.functions.definition.flat import FlatDefinition, FlatFunction
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.functions.instrumented import Instrumented, Outcome
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import EagerTensor


def perform_part(
    flat: FlatFunction, part: FlatDefinition, inputs: Sequence[EagerTensor], room: int | None
) -> Outcome:
    """What `part` of `flat` gives when it is called with `inputs`: its values, and before them its arguments.

    They are called as in the function's runs. The values of branches and loops may take `room` bytes. The caller
    sees to it that no tape and no debugger looks.
    """
    name = part.definition.signature.name
    compat.add_function(part.definition)
    try:
        arguments = [
            Shown(tensor, ARGUMENT, "", argument.type)
            for tensor, argument in zip(part.inputs, part.definition.signature.input_arg, strict=True)
        ]
        return Instrumented(_scope_of(flat, part), arguments=arguments).perform(inputs, room)
    finally:
        compat.remove_function(name)


def _scope_of(flat: FlatFunction, part: FlatDefinition) -> Scope:
    """The scope of `part`, in which branches and loops have the scopes that they have in the function."""
    body = Body(part.definition)
    root = Scope("", body, body.needed(range(len(body.returns))), argument_names=tuple(map(str, part.inputs)))
    root.stands_for = dict(enumerate(part.inputs))
    for node in root.needed.nodes:
        site = flat.nodes[node.name].site if node.name in flat.nodes else None
        if site is not None:
            root.calls[node.name] = replace(site, node=node)
    return root
