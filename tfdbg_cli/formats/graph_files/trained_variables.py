"""Which variables a program trains, by what a MetaGraphDef says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.model.names import node_of, without_number

_TRAINED = "trainable_variables"
# Where programs of version 1 put their variables (tf.compat.v1.GraphKeys).
_OTHERS = ("variables", "local_variables", "metric_variables", "model_variables")
_UNNAMED = "Variable"  # what TensorFlow calls a variable without a name


def trained_variables(collections: Mapping[str, Any], objects: Any, held: Iterable[str]) -> Mapping[str, bool]:
    """By the name of a variable whether it is trained, as its collections or the SavedObjectGraph `objects` have it.

    Variables of which that is not told are left out, as are those of one name of which both is told. Those without
    names are all called `Variable` by the objects, and numbered among the variables that the graph has, `held`.
    """
    found = {name: False for key in _OTHERS for name in _named(collections.get(key))}
    found |= {name: True for name in _named(collections.get(_TRAINED))}
    told: dict[str, list[bool]] = {}
    for node in objects.nodes:
        if node.WhichOneof("kind") == "variable" and node.variable.name:
            told.setdefault(node.variable.name, []).append(bool(node.variable.trainable))
    numbered = _numbered(held)
    # Where they are not as many, some are no objects of the program, and nobody knows which.
    as_many = (name for name, answers in told.items() if len(numbered.get(name, ())) == len(answers))
    told_by_number = {one: told[name] for name in as_many for one in numbered[name]}
    answered = told | told_by_number
    return found | {name: answers[0] for name, answers in answered.items() if len(set(answers)) == 1}


def _numbered(held: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """By the name that variables without names have, those of the graph that are called so, with their numbers."""
    found: dict[str, list[str]] = {}
    for name in held:
        stem = without_number(name)
        if stem.rpartition("/")[2] == _UNNAMED:
            found.setdefault(stem, []).append(name)
    return found


def _named(collection: Any) -> Iterator[str]:
    """The names of the nodes of the variables in a collection; what else lies there is passed over."""
    for content in () if collection is None else collection.bytes_list.value:
        try:
            name = schema.CLASSES["VariableDef"].FromString(content).variable_name
        except schema.DecodeError:
            continue
        if name:
            yield node_of(name)
