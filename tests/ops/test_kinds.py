"""Op types are named once for each meaning: no set of them stands in two places."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

import pytest
import tensorflow as tf
from support.package_source import PROJECT, modules

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.ops import kinds
from tfdbg_cli.ops.effects import Does, does

pytestmark = pytest.mark.tf


def _collections(tree: ast.AST) -> Iterator[tuple[frozenset[str], int]]:
    """The sets, tuples and lists of nothing but texts, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.Tuple | ast.List):
            texts = [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if len(texts) == len(node.elts) > 1:
                yield frozenset(texts), node.lineno


def test_no_set_of_op_types_stands_in_two_places() -> None:
    places: dict[frozenset[str], list[str]] = defaultdict(list)
    for module in modules():
        for found, line in _collections(module.tree):
            if all(name.lstrip("_")[:1].isupper() for name in found) and any(map(compat.op_definition, found)):
                places[found].append(f"{module.path.relative_to(PROJECT)}:{line}")
    assert len(places) > 50
    assert not {" ".join(sorted(found)): where for found, where in places.items() if len(where) > 1}


@pytest.mark.parametrize("name", [name for name in vars(kinds) if name.isupper()])
def test_a_kind_holds_op_types_that_there_are(name: str) -> None:
    assert all(compat.op_definition(op_type) is not None for op_type in getattr(kinds, name))


@pytest.mark.parametrize("op_type", sorted(kinds.NEVER_FLOATS))
def test_what_never_gives_floats_cannot_be_asked_for_them(op_type: str) -> None:
    definition = compat.op_definition(op_type)
    choices = {attr.name: set(attr.allowed_values.list.type) or None for attr in definition.attr}
    for output in definition.output_arg:
        types = choices[output.type_attr] if output.type_attr else {output.type}
        assert types is not None
        assert not any(tf.as_dtype(number).is_floating for number in types)


def test_kinds_and_effects_say_the_same() -> None:
    assert all(does(op_type, {Does.HOLDS}) for op_type in kinds.VARIABLES)
    assert all(does(op_type, {Does.READS}) for op_type in kinds.VARIABLE_READS)
    assert all(does(op_type, {Does.WRITES}) for op_type in kinds.ASSIGNMENTS)
    assert all(does(op_type, {Does.DRAWS}) for op_type in kinds.PYTHON)
