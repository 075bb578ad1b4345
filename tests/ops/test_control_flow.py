"""The loops and branches of version 1 that ops are in, told by the edges alone."""

from __future__ import annotations

from tfdbg_cli.ops.control_flow import OUTSIDE, Edges, LoopFrame, Nest, nests
from tfdbg_cli.ops.kinds import CALLS

# name: (op type, what it reads)
Ops = dict[str, tuple[str, tuple[str, ...]]]


def _nests(ops: Ops) -> dict[str, Nest]:
    return nests(ops, Edges(lambda name: ops[name][0], lambda name: ops[name][1], lambda name: f"{name}'s"))


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
    "cond": ("LoopCond", ("less",)),
    "switch": ("Switch", ("merge", "cond")),
    "body": ("Add", ("switch",)),
    "exit": ("Exit", ("switch",)),
    "after": ("Neg", ("exit",)),
    "next": ("NextIteration", ("body",)),
}


UNDECIDED = (LoopFrame("", branches=1),)


def test_between_switch_and_merge_a_branch_is_undecided() -> None:
    assert _nests(BRANCH) == {
        "x": OUTSIDE, "switch": UNDECIDED, "then": UNDECIDED, "merge": OUTSIDE, "after": OUTSIDE
    }  # fmt: skip


def test_between_enter_and_exit_is_a_loop() -> None:
    found = _nests(LOOP)
    every, body = LoopFrame("enter's"), LoopFrame("enter's", body=True)
    assert [found[name] for name in ("enter", "merge", "less", "cond")] == [(*OUTSIDE, every)] * 4
    assert [found[name] for name in ("switch", "body", "next")] == [(*OUTSIDE, body)] * 3
    assert found["x"] == found["exit"] == found["after"] == OUTSIDE


def test_what_reads_an_exit_that_hands_nothing_out_is_undecided() -> None:
    edges = Edges(lambda name: LOOP[name][0], lambda name: LOOP[name][1], str)
    assert nests(LOOP, edges, {"exit"})["after"] == UNDECIDED


def test_a_loop_in_a_branch_ends_before_the_branch() -> None:
    inner = {f"l/{name}": (kind, tuple(f"l/{read}" for read in reads)) for name, (kind, reads) in LOOP.items()}
    inner["l/x"] = ("Log", ("switch",))
    ops = {**BRANCH, **inner, "merge": ("Merge", ("l/after", "switch")), "after": ("Neg", ("merge",))}
    order = [name for name in ops if name not in {"merge", "after"}] + ["merge", "after"]
    found = _nests({name: ops[name] for name in order})
    assert found["l/body"] == (*UNDECIDED, LoopFrame("l/enter's", body=True))
    assert found["l/after"] == UNDECIDED
    assert found["after"] == OUTSIDE


def test_a_branch_in_a_loop_is_one_of_the_loop() -> None:
    ops = {
        **LOOP,
        "choice": ("Switch", ("body", "less")),
        "then": ("Log", ("choice",)),
        "both": ("Merge", ("then", "choice")),
    }
    body = LoopFrame("enter's", body=True)
    found = _nests({**{name: ops[name] for name in ops if name != "next"}, "next": ("NextIteration", ("both",))})
    assert found["then"] == (*OUTSIDE, LoopFrame("enter's", body=True, branches=1))
    assert found["both"] == found["next"] == (*OUTSIDE, body)


def test_a_damaged_graph_has_no_more_than_fifty_loops_in_one_another() -> None:
    ops = {f"enter {at}": ("Enter", (f"enter {at - 1}",)) for at in range(1000)}
    assert len(_nests(ops)["enter 999"]) == 51


def test_an_op_of_version_2_that_calls_is_no_nesting() -> None:
    assert all(_nests({"x": (op, ()), "y": ("Neg", ("x",))})["y"] == OUTSIDE for op in CALLS)
