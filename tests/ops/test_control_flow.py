"""How deep ops stand in loops and branches of version 1, told by the edges alone."""

from __future__ import annotations

from tfdbg_cli.ops.control_flow import nesting
from tfdbg_cli.ops.kinds import CALLS

# name: (op type, what it reads)
Ops = dict[str, tuple[str, tuple[str, ...]]]


def _depths(ops: Ops) -> dict[str, tuple[int, int]]:
    return nesting(ops, lambda name: ops[name][0], lambda name: ops[name][1])


BRANCH: Ops = {
    "x": ("Const", ()),
    "switch": ("Switch", ("x",)),
    "then": ("Log", ("switch",)),
    "merge": ("Merge", ("then", "switch")),
    "after": ("Neg", ("merge",)),
}

# As tf.while_loop builds it: the way back comes last.
LOOP: Ops = {
    "x": ("Const", ()),
    "enter": ("Enter", ("x",)),
    "merge": ("Merge", ("enter", "next")),
    "less": ("Less", ("merge",)),
    "switch": ("Switch", ("merge", "less")),
    "body": ("Add", ("switch",)),
    "exit": ("Exit", ("switch",)),
    "after": ("Neg", ("exit",)),
    "next": ("NextIteration", ("body",)),
}


def test_between_switch_and_merge_a_branch_is_undecided() -> None:
    assert _depths(BRANCH) == {"x": (0, 0), "switch": (0, 1), "then": (0, 1), "merge": (0, 0), "after": (0, 0)}


def test_between_enter_and_exit_is_a_loop() -> None:
    depths = _depths(LOOP)
    assert {name for name, depth in depths.items() if depth[0]} == {
        "enter", "merge", "less", "switch", "body", "next"
    }  # fmt: skip
    assert depths["after"] == (0, 0)


def test_a_loop_in_a_branch_ends_before_the_branch() -> None:
    inner = {f"l/{name}": (kind, tuple(f"l/{read}" for read in reads)) for name, (kind, reads) in LOOP.items()}
    inner["l/x"] = ("Log", ("switch",))
    ops = {**BRANCH, **inner, "merge": ("Merge", ("l/after", "switch")), "after": ("Neg", ("merge",))}
    order = [name for name in ops if name not in {"merge", "after"}] + ["merge", "after"]
    depths = _depths({name: ops[name] for name in order})
    assert depths["l/body"] == (1, 2)
    assert depths["l/after"] == (0, 1)
    assert depths["after"] == (0, 0)


def test_an_op_of_version_2_that_calls_is_no_nesting() -> None:
    assert all(_depths({"x": (op, ()), "y": ("Neg", ("x",))})["y"] == (0, 0) for op in CALLS)
