"""The heads of all lists are written one way: words with a capital, measures and types as elsewhere."""

from __future__ import annotations

import ast

from support.package_source import modules

AS_WRITTEN = {
    "dtype", "t (ms)",
    "|x| max", "values", "mean", "std", "±inf", "% zero", "max abs", "max rel", "max ULP", "%",
    "fwd", "grad", "upd",  # as the column Role says it
}  # fmt: skip


def test_a_head_begins_with_a_capital_or_is_a_measure() -> None:
    heads = {
        (module.name, node.args[0].value)
        for module in modules()
        if module.layer == "commands"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Column"
        if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
    }
    assert len(heads) > 60
    wrong = sorted((name, head) for name, head in heads if head[:1].islower() and head not in AS_WRITTEN)
    assert not wrong
