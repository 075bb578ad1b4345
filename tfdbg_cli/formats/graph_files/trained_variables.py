"""Which variables a program trains, by what a MetaGraphDef says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.model.names import node_of

_TRAINED = "trainable_variables"
# Where programs of version 1 put their variables (tf.compat.v1.GraphKeys).
_OTHERS = ("variables", "local_variables", "metric_variables", "model_variables")


def trained_variables(collections: Mapping[str, Any], objects: Any) -> Mapping[str, bool]:
    """By the name of a variable whether it is trained, as its collections or the SavedObjectGraph `objects` have it.

    Variables of which that is not told are left out, as are those of one name of which both is told.
    """
    found = {name: False for key in _OTHERS for name in _named(collections.get(key))}
    found |= {name: True for name in _named(collections.get(_TRAINED))}
    told: dict[str, set[bool]] = {}
    for node in objects.nodes:
        if node.WhichOneof("kind") == "variable" and node.variable.name:
            told.setdefault(node.variable.name, set()).add(bool(node.variable.trainable))
    return found | {name: answers.pop() for name, answers in told.items() if len(answers) == 1}


def _named(collection: Any) -> Iterator[str]:
    """The names of the nodes of the variables in a collection; what else lies there is passed over."""
    for content in () if collection is None else collection.bytes_list.value:
        try:
            name = schema.CLASSES["VariableDef"].FromString(content).variable_name
        except schema.DecodeError:
            continue
        if name:
            yield node_of(name)
