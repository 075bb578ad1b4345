"""What stands at like places by chance is no pair, and where nothing could be compared nothing agrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.analysis.difference.compared_recordings import compared_recordings
from tfdbg_cli.analysis.difference.comparison import compared_runs
from tfdbg_cli.analysis.pairing.renames import Renames, parsed_renames
from tfdbg_cli.analysis.pairing.tensor_pairs import paired_tensors
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.tensors import gone

X = np.linspace(1, 2, 16).astype(np.float32)


def test_a_constant_that_another_difference_evens_out_is_none() -> None:
    def run(*, early: bool) -> Run:
        inner = X / 16 if early else X
        by = np.float32(1 if early else 16)
        return made_run(
            op("x", "Placeholder", value=X), op("y", "ReadVariableOp", value=X),
            *([op("eighth", "Const", value=np.float32(16)), op("less", "RealDiv", "x", "eighth", value=inner)]
              if early else []),
            op("tile", "Tile", "less" if early else "x", "y", value=inner), op("by", "Const", value=by),
            op("mean", "RealDiv", "tile", "by", value=X / 16), op("out", "Exp", "mean", value=np.exp(X / 16)),
        )  # fmt: skip

    for early in (False, True):
        found = compared_runs(run(early=early), run(early=not early))
        assert found.first is None and found.same, found.first
        assert ("by", "by") in found.pairs.nodes


def test_constants_without_a_name_or_a_reader_in_common_are_no_pair() -> None:
    def run(name: str, value: float, reader: str) -> Run:
        return made_run(
            op("x", "Placeholder", value=X), op("y", "Exp", "x", value=np.exp(X)),
            op(name, "Const", value=np.float32(value)), op(f"{name}/read", reader, name, value=np.float32(1)),
            op("out", "Neg", "y", value=-X),
        )  # fmt: skip

    one, two = run("a", 16, "Foo"), run("b", 1, "Bar")
    nodes = paired_tensors(one, two, Renames()).nodes
    assert ("a", "b") not in nodes and ("x", "x") in nodes
    assert compared_runs(one, run("a", 1, "Foo")).first is not None, "they have one name"
    same_reader = compared_runs(one, run("b", 1, "Foo"))
    assert same_reader.first is not None and ("a", "b") in same_reader.pairs.nodes
    assert ("a", "b") in paired_tensors(one, two, parsed_renames("a b")).nodes, "somebody says so"


def test_a_scalar_is_no_vector_though_a_product_of_one_name_reads_both() -> None:
    rate, step = np.float32(0.1), X * np.float32(0.1)
    one = made_run(
        op("c", "Const", value=rate), op("v", "ReadVariableOp", value=X), op("m", "Mul", "v", "c", value=step)
    )
    two = made_run(
        op("r", "ReadVariableOp", value=X),
        op("k", "ReadVariableOp", value=rate),
        op("m", "Mul", "k", "r", value=step),
    )
    found = compared_runs(one, two)
    assert found.first is None and found.same
    assert set(found.pairs.nodes) >= {("c", "k"), ("v", "r")}


def test_results_that_nothing_else_pairs_are_compared_in_their_order() -> None:
    def run(op_type: str, value: np.ndarray) -> Run:
        return made_run(op("x", "Placeholder", value=X), op(op_type.lower(), op_type, "x", value=value))

    found = compared_runs(run("Foo", X), run("Bar", X[:3]))
    assert found.first is not None and not found.same
    assert ("foo", "bar") in found.pairs.nodes


def test_more_tensors_on_one_side_are_no_difference() -> None:
    ops = [op("x", "Placeholder", value=X), op("y", "Exp", "x", value=np.exp(X))]
    found = compared_runs(made_run(*ops), made_run(*ops, op("more", "Sum", "y", value=np.exp(X).sum())))
    assert found.first is None and found.same and found.pairs.only_second


def test_where_nothing_could_be_compared_nothing_agrees() -> None:
    valued = made_run(op("x", "Exp", value=X))
    without = made_run(op("x", "Exp", value=gone("not kept")))
    other = made_run(op("z", "Foo", value=np.float32(1)))
    assert not compared_runs(valued, without).comparable
    for first, second in ((valued, without), (valued, replace(valued, tensors=type(valued.tensors)((), ())))):
        found = compared_recordings([first], [second])
        assert not found.comparable and found.silent == 1
    some = compared_recordings([valued, valued, valued], [valued, without, other])
    assert some.comparable and (some.count, some.single) == (2, 2), "a run that fetches something else has no other"
    some = compared_recordings([valued, valued], [valued, without])
    assert (some.comparable, some.silent, some.places) == (True, 1, (0, 0)), "what was compared is shown"


def test_the_page_says_why_nothing_could_be_compared() -> None:
    valued, without = made_run(op("x", "Exp", value=X)), made_run(op("x", "Exp", value=gone("It was not kept.")))
    shown = " ".join(Prompt(Opened("case", [valued, without])).show("diff 1 2", 200).split())
    assert "Of no pair of tensors both have values. B, x:0: It was not kept." in shown
