"""Runs whose graph makes no sense: ops of every type that the analysis knows, wired at random, in circles too."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tfdbg_cli.model.calls import Call, CallArgument, RunError, RunKind
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe
from tfdbg_cli.model.values import Array, Lack, NoValue, Value

_PACKAGE = Path(__file__).parents[2] / "tfdbg_cli"
_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
_SCOPES = ("", "while/body/", "while/cond/", "cond/true/", "gradient_tape/", "gradients/", "Adam/", "step/")
_ATTRIBUTES = (
    "f", "T", "dtype", "axis", "batch_dims", "equation", "transpose_a", "adj_x", "data_format", "is_training",
    "begin_mask", "ellipsis_mask", "new_axis_mask",
    "shrink_axis_mask", "DstT", "SrcT", "N", "_output_shapes", "shape",
)  # fmt: skip
_TEXTS = (
    "", "0", "1", "-1", "7", "99999999999999999999", "nan", "inf", "x", "ij,jk->ik", "a->", "->a", "aa,b->zz", "²",
    "[?,3]", "[]", "True", "False", "float32", "bfloat16", "resource", "NCHW", "body", "step", "(", "٣",
)  # fmt: skip
_SHAPES = ((), (0,), (1,), (3,), (2, 3), (3, 2), (3, 0), (2, 3, 1), (1, 1, 1, 1), (4, 2, 3), (6,))
_NUMBERS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e30, -3.0)


def known_op_types() -> list[str]:
    """The names of op types that stand in the tables of the analysis, as it is written."""
    words: set[str] = set()
    for path in (*_PACKAGE.glob("analysis/**/*.py"), *_PACKAGE.glob("ops/*.py")):
        for text in path.read_text(encoding="utf-8").split('"')[1::2]:
            words.update(word for word in text.split() if word.isidentifier() and word.lstrip("_")[:1].isupper())
    return sorted(words)


_OPS = known_op_types()


class RunMaker:
    """Random runs. The same `seed` makes the same ones."""

    def __init__(self, seed: int) -> None:
        self._pick = random.Random(seed)

    def run(self, nodes: int = 14, ops: Iterable[str] = ()) -> Run:
        """A run of `nodes` nodes; of `ops` there is at least one each."""
        pick = self._pick
        wanted = [*ops, *(pick.choice(_OPS) for _ in range(nodes))][: max(nodes, 1)]
        names = [pick.choice(_SCOPES) + f"n{i}" for i in range(len(wanted))]
        if pick.random() < 0.3:
            names[0] = "while"
        made = [self._node(name, op, names) for name, op in zip(names, wanted, strict=True)]
        graph = Graph(made, pick.choice(list(GraphKind)))
        tensors, values = self._tensors(made)
        fetches = tuple(f"{pick.choice(names)}:{pick.randrange(2)}" for _ in range(2))
        feeds = {f"{pick.choice(names)}:0": self._array() for _ in range(2)}
        kind = pick.choice(list(RunKind))
        arguments = tuple(
            CallArgument(pick.choice(names), "float32", pick.choice((None, (3,), (None, 2))), pick.random() < 0.5)
            for _ in range(2)
        )
        call = Call(1, kind, fetches, feeds, function="step" if kind is RunKind.FUNCTION else "", arguments=arguments)
        tracebacks = {name: (Frame("/home/ada/train.py", 3, "<module>", "x = 1"),) for name in names[::2]}
        times = tuple(NodeTime(node.name, node.op_type, _DEVICE, 0.0, 1.0, 2.0) for node in made[:3])
        error = RunError("InvalidArgumentError", "bad", pick.choice([*names, None])) if pick.random() < 0.2 else None
        return Run(
            call,
            MemoryTensorStore(tensors, values),
            graph,
            python_graph=Graph(made[::-1], GraphKind.PYTHON) if pick.random() < 0.3 else None,
            tracebacks=tracebacks,
            error=error,
            profile=Profile(times),
        )

    def _node(self, name: str, op: str, names: list[str]) -> Node:
        pick = self._pick
        known = [*names, name, "nobody"]
        inputs = tuple(
            TensorName(pick.choice(known), pick.choice((0, 0, 0, 1, 2, 5))) for _ in range(pick.randrange(5))
        )
        controls = tuple(pick.choice(known) for _ in range(pick.randrange(2)))
        attributes = {key: pick.choice(_TEXTS) for key in _ATTRIBUTES if pick.random() < 0.4}
        return Node(name, op, pick.choice(("", _DEVICE)), inputs, controls, attributes)

    def _tensors(self, nodes: list[Node]) -> tuple[list[Tensor], list[Value]]:
        pick = self._pick
        rows: list[Tensor] = []
        values: list[Value] = []
        seen: dict[TensorName, int] = {}
        timed = pick.random() < 0.5
        for place in range(2 * len(nodes)):
            node = pick.choice(nodes)
            name = TensorName(node.name, pick.choice((0, 0, 0, 1)))
            value = NoValue(Lack.DAMAGED, "It is damaged.") if pick.random() < 0.1 else self._array()
            dtype = "resource" if isinstance(value, NoValue) else value.dtype.name
            row = describe(
                name, value, device=_DEVICE, op_type=node.op_type, dtype=dtype, execution=seen.get(name, 0),
                time_us=place if timed else None,
            )  # fmt: skip
            seen[name] = row.execution + 1
            rows.append(row)
            values.append(value)
        return rows, values

    def _array(self) -> Array:
        pick = self._pick
        shape = pick.choice(_SHAPES)
        count = int(np.prod(shape))
        dtype = pick.choice(
            ("float32",) * 6 + ("float64", "float16", "complex64", "int32", "int64", "bool", "object")
        )
        if dtype == "object":
            return np.array([b"x"] * count, object).reshape(shape)
        numbers = np.array([pick.choice(_NUMBERS) for _ in range(count)])
        if dtype in ("int32", "int64", "bool"):
            numbers = np.array([pick.choice((0, 1, 2, -1, 5, -(2**31), 2**31 - 1)) for _ in range(count)])
        with np.errstate(all="ignore"):
            return numbers.astype(dtype).reshape(shape)
