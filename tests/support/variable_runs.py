"""Calls of a function that write its variable `w`, made without TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from support.made_run import INF, Op, made_run, op
from tfdbg_cli.model.calls import CallArgument, RunKind
from tfdbg_cli.model.runs import Run

HELD = (1.0, 3e38)  # what `w` holds before


def called(*ops: Op, held: Sequence[float] = HELD, order: Sequence[str] = ()) -> Run:
    """A call of a function of `x` that captures the variable `w`, which held `held` before it."""
    run = made_run(op("x", "Placeholder", value=[0.0, 1e38]), op("w", "Placeholder"), *ops, order=order, times=False)
    size = (len(held),)
    arguments = (CallArgument("x", "float32", size), CallArgument("w", "float32", size, captured=True))
    feeds = {"x": np.float32([0.0, 1e38]), "w": np.float32(held)}
    return replace(run, call=replace(run.call, kind=RunKind.FUNCTION, function="f", arguments=arguments, feeds=feeds))


def added(name: str = "add", *, control: tuple[str, ...] = ()) -> Op:
    """What adds `x` to `w`."""
    return op(name, "AssignAddVariableOp", "w", "x", control=control)


def read(name: str, *values: Any, control: tuple[str, ...] = ()) -> Op:
    """What reads `w`, once for each of `values`."""
    return op(name, "ReadVariableOp", "w", values=values, control=control)


def shown(*values: Any, region: str = "", by: tuple[str, ...] = ("x",)) -> Op:
    """What shows `w` at the end of a region, as often as that ran."""
    return op(f"{region}w/after_update", "UpdatedVariable", "w", *by, values=values)


def read_after_its_update() -> Run:
    """The update overflows, and what it made is read and given back."""
    spoiled = [1.0, INF]
    return called(
        added(),
        read("read", spoiled, control=("add",)),
        op("max", "Max", "read", value=INF),
        shown(spoiled),
        order=("x", "read", "max", "w/after_update"),
    )


def in_a_loop(*values: Sequence[float], held: Sequence[float] = HELD) -> Run:
    """In each turn of a loop `w` is updated, and read after that: `values` are what it was, turn by turn."""
    turns = [["while/body/step", "while/body/read", "while/body/w/after_update"] for _ in values]
    return called(
        op("while", "While", "while/body/next", "w"),
        op("while/body/turn", "LoopVariable", "x", "while/body/next"),
        op("while/body/next", "Identity", "while/body/turn", control=("while/body/add",)),
        op("while/body/step", "Identity", "x", values=[[0.0, 2e37] for _ in values]),
        op("while/body/add", "AssignAddVariableOp", "w", "while/body/step"),
        read("while/body/read", *values, control=("while/body/add",)),
        shown(*values, region="while/body/", by=("while/body/step",)),
        read("last", values[-1], control=("while",)),
        held=held,
        order=("x", *(name for turn in turns for name in turn), "last"),
    )
