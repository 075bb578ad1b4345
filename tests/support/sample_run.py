"""A small run, made by hand without TensorFlow, for tests of everything above the model.

x ──► dense/MatMul ──► prob ──► loss/Log ──► loss/mul ──► loss/Mean
w ──►                  y ─────────────────►
step/while/Add runs three times; grad/… sits on a second device.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from support.saved_sources import SavedSources
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Hit, Opened, Run, RunEnd, RunStart
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe
from tfdbg_cli.model.values import Lack, NoValue, Value

CPU0 = "/job:localhost/replica:0/task:0/device:CPU:0"
CPU1 = "/job:localhost/replica:0/task:0/device:CPU:1"
T0 = 1_700_000_000_000_000

TRAIN_PY = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [None, 2], name="y")
w = tf.get_variable("w", [3, 2])
logits = tf.matmul(x, w, name="dense/MatMul")
prob = tf.nn.relu(logits, name="prob")
loss = tf.reduce_mean(y * tf.log(prob))
"""

X = np.array([[1, 2, 3], [4, 5, 6], [0, 0, 0], [7, 8, 9]], np.float32)
Y = np.array([[1, 0], [0, 1], [0, 1], [1, 0]], np.float32)
W = np.array([[0.5, -1], [0.25, 1], [0.125, 2]], np.float32)
LOGITS = X @ W
PROB = np.maximum(LOGITS, 0)
with np.errstate(divide="ignore", invalid="ignore"):
    LOG = np.log(PROB)
    MUL = Y * LOG
    MEAN = MUL.mean(dtype=np.float32)


def _node(name: str, op: str, *inputs: str, control: tuple[str, ...] = (), device: str = CPU0, **attrs: str) -> Node:
    names = tuple(TensorName(i.split(":")[0], int(i.split(":")[1]) if ":" in i else 0) for i in inputs)
    return Node(name, op, device, names, control, attrs)


NODES = (
    _node("x", "Placeholder", dtype="float32", shape="[?,3]"),
    _node("y", "Placeholder", dtype="float32", shape="[?,2]"),
    _node("w", "VariableV2", dtype="float32_ref"),
    _node("w/read", "Identity", "w", T="float32"),
    _node("dense/MatMul", "MatMul", "x", "w/read", T="float32", transpose_a="False"),
    _node("prob", "Relu", "dense/MatMul", T="float32"),
    _node("loss/Log", "Log", "prob", T="float32"),
    _node("loss/mul", "Mul", "y", "loss/Log", T="float32"),
    _node("loss/Const", "Const", dtype="int32"),
    _node("loss/Mean", "Mean", "loss/mul", "loss/Const", control=("init",), T="float32"),
    _node("init", "NoOp"),
    _node("step/while/Add", "Add", "step/while/Add", T="int64"),
    _node("grad/unique", "Unique", "x", device=CPU1, T="float32"),
    _node("half/Cast", "Cast", "loss/Log", DstT="bfloat16"),
    _node("names", "Const", dtype="string"),
    _node("big", "RandomUniform", T="float32"),
    _node("spectrum", "Complex", dtype="complex64"),
    _node("table", "HashTableV2"),
    _node("cold", "VariableV2", dtype="float32_ref"),
)

VALUES: tuple[tuple[str, int, str, str, int, Value], ...] = (
    # node, slot, device, dtype, execution, value
    ("x", 0, CPU0, "float32", 0, X),
    ("y", 0, CPU0, "float32", 0, Y),
    ("w", 0, CPU0, "float32", 0, W),
    ("cold", 0, CPU0, "float32", 0, NoValue(Lack.UNINITIALIZED, "The variable was read before it was initialized.")),
    ("table", 0, CPU0, "resource", 0, NoValue(Lack.OPAQUE, "A resource handle holds no numbers.")),
    ("w/read", 0, CPU0, "float32", 0, W),
    ("names", 0, CPU0, "string", 0, np.array([b"cat", b"dog\x1b[2J", "Käse".encode()], object)),
    ("big", 0, CPU0, "float32", 0, np.linspace(0, 1, 5000, dtype=np.float32).reshape(50, 100)),
    ("spectrum", 0, CPU0, "complex64", 0, np.array([1 + 1j, 0, complex(np.nan, 0)], np.complex64)),
    ("dense/MatMul", 0, CPU0, "float32", 0, LOGITS),
    ("prob", 0, CPU0, "float32", 0, PROB),
    ("loss/Log", 0, CPU0, "float32", 0, LOG),
    ("half/Cast", 0, CPU0, "bfloat16", 0, LOG.astype(ml_dtypes.bfloat16)),
    ("step/while/Add", 0, CPU0, "int64", 0, np.int64(1)),
    ("step/while/Add", 0, CPU0, "int64", 1, np.int64(2)),
    ("step/while/Add", 0, CPU0, "int64", 2, np.int64(3)),
    ("grad/unique", 0, CPU1, "float32", 0, np.unique(X)),
    ("grad/unique", 1, CPU1, "int32", 0, np.arange(12, dtype=np.int32)),
    ("loss/mul", 0, CPU0, "float32", 0, MUL),
    ("loss/Mean", 0, CPU0, "float32", 0, np.asarray(MEAN)),
)


def graph(kind: GraphKind = GraphKind.RUNTIME) -> Graph:
    return Graph(NODES, kind)


def store() -> MemoryTensorStore:
    ops = {node.name: node.op_type for node in NODES}
    tensors: list[Tensor] = []
    values: list[Value] = []
    for i, (node, slot, device, dtype, execution, value) in enumerate(VALUES):
        held = value if isinstance(value, NoValue) else np.asarray(value)
        tensors.append(
            describe(
                TensorName(node, slot), held, device=device, op_type=ops[node], dtype=dtype,
                execution=execution, time_us=T0 + 250 * i,
            )
        )  # fmt: skip
        values.append(held)
    return MemoryTensorStore(tensors, values)


def _traceback(line: int, text: str) -> tuple[Frame, ...]:
    return (
        Frame("/home/ada/train.py", line, "<module>", text),
        Frame("/usr/lib/python3.11/site-packages/tensorflow/python/ops/gen_ops.py", 120, "op", "_op_def_library(…)"),
    )


TRACEBACKS = {
    "x": _traceback(3, 'x = tf.placeholder(tf.float32, [None, 3], name="x")'),
    "y": _traceback(4, 'y = tf.placeholder(tf.float32, [None, 2], name="y")'),
    "w": _traceback(5, 'w = tf.get_variable("w", [3, 2])'),
    "w/read": _traceback(5, 'w = tf.get_variable("w", [3, 2])'),
    "dense/MatMul": _traceback(6, 'logits = tf.matmul(x, w, name="dense/MatMul")'),
    "prob": _traceback(7, 'prob = tf.nn.relu(logits, name="prob")'),
    "loss/Log": _traceback(8, "loss = tf.reduce_mean(y * tf.log(prob))"),
    "loss/mul": _traceback(8, "loss = tf.reduce_mean(y * tf.log(prob))"),
    "loss/Mean": _traceback(8, "loss = tf.reduce_mean(y * tf.log(prob))"),
}

CALL = Call(3, RunKind.SESSION, ("loss/Mean:0",), {"x:0": X, "y:0": Y.tolist()})


def sample_run(**changes: object) -> Run:
    fields: dict[str, object] = {
        "call": CALL,
        "tensors": store(),
        "graph": graph(),
        "tracebacks": TRACEBACKS,
        "sources": SavedSources({"/home/ada/train.py": TRAIN_PY}),
    }
    return Run(**(fields | changes))  # type: ignore[arg-type]


def run_start() -> RunStart:
    return RunStart(CALL, graph(GraphKind.PYTHON), TRACEBACKS, SavedSources({"/home/ada/train.py": TRAIN_PY}))


def run_end() -> RunEnd:
    return RunEnd(sample_run())


def run_hit() -> RunEnd:
    return RunEnd(sample_run(), Hit("has_inf_or_nan", "", 7))


def run_failed() -> RunEnd:
    error = RunError("InvalidArgumentError", "Matrix size-incompatible: In[0]: [4,3], In[1]: [2,3]", "dense/MatMul")
    return RunEnd(sample_run(error=error))


def opened(count: int = 1) -> Opened:
    return Opened("/data/dump", [sample_run() for _ in range(count)])
