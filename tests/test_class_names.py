"""A name of a public class is one thing: who meets it in a traceback, or looks for it, finds one class."""

from __future__ import annotations

import ast
from collections import defaultdict

from support.package_source import modules


def test_no_two_public_classes_have_one_name() -> None:
    found = defaultdict(list)
    for module in modules():
        if module.layer == "examples":
            continue  # programs by themselves, which call their models alike
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module.where)
    assert len(found) > 500
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
