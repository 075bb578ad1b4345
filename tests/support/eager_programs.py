"""Programs that run eagerly, as people write them, each with the first value that is not finite in its middle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class EagerProgram:
    """A script. `origin` is the op type that first gives what is not finite, `text` a part of the program's line.

    `element` is the index of the first element that is so. `cause` is a part of the sentence that explains it, `rows`
    the rows of the batch that did it, empty where there is no batch. `names` are local names of the innermost call of
    the program, with the beginning of what is shown of each. `packages` are modules by name that it imports, which
    stand where installed packages do.
    """

    text: str
    origin: str
    line: str
    cause: str
    element: tuple[int, ...]
    rows: tuple[int, ...]
    names: Mapping[str, str]
    packages: Mapping[str, str] = field(default_factory=dict)


_HEAD = """\
import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
"""

LOOP = EagerProgram(
    _HEAD
    + """
w = tf.Variable(np.ones((3, 2), "f"))
for i in range(4):
    x = tf.constant(np.full((4, 3), 1.0 - i, "f"))
    with tf.GradientTape() as t:
        l = tf.reduce_mean(tf.math.log(tf.nn.relu(x @ w)))
    w.assign_sub(0.1 * t.gradient(l, w))
    print(l.numpy())
""",
    "Log", "tf.math.log(tf.nn.relu(x @ w))", "Log of 0: Relu_0:0, a relu, is 0 at 8 elements", (0, 0), (0, 1, 2, 3),
    {"x": "float32[4,3] n=12 all x=0", "i": "1", "w": "float32[3,2] n=6 all x=0.9833"},
)  # fmt: skip
GRADIENT = EagerProgram(
    _HEAD
    + """
w = tf.Variable(1.0)
for i in range(5):
    x = tf.constant([1.0, 4.0, 3.0 - i])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.sqrt(x * w))
    g = t.gradient(y, w)
    w.assign_sub(0.01 * g)
print(w.numpy())
""",
    "SqrtGrad", "t.gradient(y, w)", "square root", (2,), (2,),
    {"x": "float32[3] n=3 x∈[0, 4] μ=1.667 σ=1.7", "y": "float32 x=2.899", "i": "3"},
)  # fmt: skip
APPLIED = EagerProgram(
    _HEAD
    + """
import keras


class Trainer:
    def __init__(self):
        self.w = keras.Variable(np.ones((3, 1), "f"), name="w")
        self.optimizer = keras.optimizers.Adam(1e-2, epsilon=0.0)

    def loss(self, x):
        return tf.reduce_mean((x @ self.w.value) ** 2)

    def train(self, data):
        for x in data:
            with tf.GradientTape() as tape:
                loss = self.loss(x)
            gradient = tape.gradient(loss, [self.w.value])
            self.optimizer.apply_gradients(zip(gradient, [self.w]))


Trainer().train([tf.constant(np.array([[1.0, 2.0, v]], "f")) for v in (0.0, 1.0, 2.0)])
""",
    "RealDiv", "self.optimizer.apply_gradients", "Division by 0 in the optimizer", (2, 0), (),
    {
        "self": "<__main__.Trainer object", "x": "float32[1,3] n=3 x∈[0, 2] μ=1 σ=0.8165", "loss": "float32 x=9",
        "gradient": "[<tf.Tensor: shape=(3, 1)",
    },
)  # fmt: skip
UPDATED = EagerProgram(
    _HEAD
    + """
w = tf.Variable([3e38, 1.0])
for i in range(3):
    w.assign_add([1e38 * i, 0.0])
print(w.numpy())
""",
    "UpdatedVariable", "w.assign_add", "The update itself overflows: w", (0,), (),
    {"w": "float32[2] n=2 x=1 +inf×1", "i": "1"},
)  # fmt: skip
LAYERS = EagerProgram(
    _HEAD
    + """
weights = [tf.Variable(np.eye(4, dtype="f") * s) for s in (1.0, 1e20, 1e20, 1.0)]


def forward(x):
    for w in weights:
        x = tf.nn.relu(x @ w)
    return x


for step in range(3):
    out = forward(tf.constant(np.outer([1e-20, step, 0.0], np.ones(4)).astype("f")))
print(out.numpy().max())
""",
    "MatMul", "tf.nn.relu(x @ w)", "Overflow", (1, 0), (1,),
    {
        "x": "float32[3,4] n=12 x∈[0, 1e+20] μ=3.333e+19 σ=4.714e+19",
        "w": "float32[4,4] n=16 x∈[0, 1e+20] μ=2.5e+19 σ=4.33e+19",
    },
)  # fmt: skip
HELPER = EagerProgram(
    _HEAD
    + """
for i in range(4):
    x = tf.constant(np.outer([1.0, 2.0 - i], np.ones(3)).astype("f"))
    n = tf.linalg.normalize(x, axis=1)[0]
print(n.numpy())
""",
    "RealDiv", "tf.linalg.normalize", "norm of 0", (1, 0), (1,),
    {"x": "float32[2,3] n=6 x∈[0, 1] μ=0.5 σ=0.5", "i": "2"},
)  # fmt: skip
PACKAGE = EagerProgram(
    """\
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "site-packages"))
"""
    + _HEAD
    + """
import losses

for i in range(4):
    x = tf.constant(np.array([[1.0, 1.0], [2.0 - i, 1.0]], "f"))
    loss = losses.entropy(x)
print(loss.numpy())
""",
    "Log", "losses.entropy(x)", "Log of 0", (1, 0), (1,),
    {"x": "float32[2,2] n=4 x∈[0, 1] μ=0.75 σ=0.433", "i": "2", "loss": "float32 x=-0"},
    {
        "losses": """\
import tensorflow as tf


def entropy(x):
    return -tf.reduce_mean(_weighted(x, tf.math.log))


def _weighted(x, weigh):
    return x * weigh(x)
"""
    },
)  # fmt: skip
THREAD = EagerProgram(
    _HEAD
    + """
import threading


def work():
    v = tf.Variable(2.0)
    for i in range(5):
        v.assign_sub(0.1)
        r = tf.math.log(v * tf.constant([1.0, 2.0 - i, 1.0]))
    print(r.numpy())


thread = threading.Thread(target=work, name="worker")
thread.start()
thread.join()
""",
    "Log", "tf.math.log(v * ", "Log of 0", (1,), (1,), {"v": "float32 x=1.7", "i": "2"},
)  # fmt: skip
CLASSES = EagerProgram(
    _HEAD
    + """
class Module:
    def parameters(self):
        for value in vars(self).values():
            if isinstance(value, tf.Variable):
                yield value
            elif isinstance(value, Module):
                yield from value.parameters()

    def __call__(self, *inputs):
        return self.forward(*inputs)


class Linear(Module):
    def __init__(self, width, depth):
        self.weight = tf.Variable(np.ones((width, depth), "f"))
        self.bias = tf.Variable(np.zeros(depth, "f"))

    def forward(self, x):
        return x @ self.weight + self.bias


class Network(Module):
    def __init__(self):
        self.hidden = Linear(2, 3)
        self.output = Linear(3, 1)

    def forward(self, x):
        return self.output(tf.nn.relu(self.hidden(x)))


class RelativeError(Module):
    def forward(self, found, wanted):
        error = tf.abs(found - wanted)
        return tf.reduce_mean(error / wanted)


class Momentum:
    def __init__(self, parameters, rate):
        self.parameters, self.rate = list(parameters), rate
        self.velocities = [tf.Variable(tf.zeros_like(each)) for each in self.parameters]

    def step(self, gradients):
        for own, velocity, gradient in zip(self.parameters, self.velocities, gradients):
            velocity.assign(0.9 * velocity + gradient)
            own.assign_sub(self.rate * velocity)


class Loader:
    def __init__(self, *arrays, batch):
        self.arrays, self.batch = arrays, batch

    def __iter__(self):
        for at in range(0, len(self.arrays[0]), self.batch):
            yield [tf.constant(each[at : at + self.batch]) for each in self.arrays]


network, criterion = Network(), RelativeError()
optimizer = Momentum(network.parameters(), 1e-3)
x = np.ones((12, 2), "f")
y = np.arange(12, 0, -1).reshape(12, 1).astype("f")
y[9] = 0.0
for epoch in range(2):
    for features, wanted in Loader(x, y, batch=4):
        with tf.GradientTape() as tape:
            loss = criterion(network(features), wanted)
        optimizer.step(tape.gradient(loss, optimizer.parameters))
print(loss.numpy())
""",
    "RealDiv", "tf.reduce_mean(error / wanted)", "Division by 0", (1, 0), (1,),
    {
        "self": "<__main__.RelativeError object", "error": "float32[4,1] n=4 x∈[2.003, 6.003] μ=4.253 σ=1.479",
        "wanted": "float32[4,1] n=4 x∈[0, 4] μ=1.75 σ=1.479", "found": "float32[4,1] n=4 all x=6.003",
    },
)  # fmt: skip
REPLICAS = EagerProgram(
    _HEAD
    + """
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    v = tf.Variable(3.0)


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.math.log(v - x)
    return tape.gradient(loss, v)


for i in range(5):
    r = strategy.run(step, args=(tf.constant([0.0, i, 1.0]),))
print(strategy.experimental_local_results(r)[0].numpy())
""",
    "Log", "tf.math.log(v - x)", "Log of 0", (1,), (1,),
    {"x": "float32[3] n=3 x∈[0, 3] μ=1.333 σ=1.247", "tape": "<tensorflow.python.eager.backprop.GradientTape object"},
)  # fmt: skip
METRIC = EagerProgram(
    _HEAD
    + """
import keras


class LogMean(keras.metrics.Metric):
    def __init__(self):
        super().__init__(name="log_mean")
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(tf.reduce_sum(tf.math.log(tf.cast(y_pred, "float32"))))

    def result(self):
        return self.total


metric = LogMean()
for i in range(4):
    metric.update_state(tf.zeros(3), tf.constant(np.full(3, 2.0 - i, "f")))
print(float(metric.result()))
""",
    "Log", "tf.math.log(tf.cast", "Log of 0", (0,), (0, 1, 2),
    {"y_pred": "float32[3] n=3 all x=0", "self": "<LogMean name=log_mean>"},
)  # fmt: skip
PY_FUNCTION = EagerProgram(
    _HEAD
    + """
def inner(x):
    return tf.math.log(x - 1.0)


@tf.function
def step(x):
    return tf.py_function(inner, [x], tf.float32) + 0.0


for i in range(3):
    r = step(tf.constant([3.0 - i, 5.0]))
print(r.numpy())
""",
    "Log", "tf.math.log(x - 1.0)", "Log of 0", (0,), (0,), {"x": "float32[2] n=2 x∈[1, 5] μ=3 σ=2"},
)  # fmt: skip
DATA = EagerProgram(
    _HEAD
    + """
def read(x):
    return tf.numpy_function(lambda v: np.float32(np.inf) if v == 0 else v, [x], tf.float32)


data = tf.data.Dataset.from_tensor_slices(np.array([2.0, 1.0, 0.0, 3.0], "f")).map(read)
total = tf.Variable(0.0)
for v in data:
    total.assign_add(v)
print(total.numpy())
""",
    "IteratorGetNext", "for v in data:", "input pipeline", (), (),
    {"data": "<_MapDataset", "total": "float32 x=3"},
)  # fmt: skip
KERAS = EagerProgram(
    _HEAD
    + """
import keras

keras.utils.set_random_seed(0)
inputs = keras.Input((3,))
hidden = keras.layers.Dense(4, activation="relu")(inputs)
outputs = keras.layers.Lambda(lambda z: tf.math.log(z))(hidden)
model = keras.Model(inputs, keras.layers.Dense(1)(outputs))
model.compile("sgd", "mse", run_eagerly=True)
x = np.abs(np.random.default_rng(1).normal(size=(64, 3))).astype("f")
model.fit(x, x[:, :1], batch_size=8, epochs=1, verbose=0, shuffle=False)
print("done")
""",
    "Log", "tf.math.log(z)", "Log of 0", (0, 0), tuple(range(8)),
    {"z": "float32[8,4] n=32 x∈[0, 1.112] μ=0.2134 σ=0.3243"},
)  # fmt: skip
RUN_EAGERLY = EagerProgram(
    _HEAD
    + """
tf.config.run_functions_eagerly(True)


@tf.function
def step(x):
    return tf.math.log(x)


for i in range(4):
    r = step(tf.constant([2.0 - i, 1.0]))
print(r.numpy())
""",
    "Log", "tf.math.log(x)", "Log of 0", (0,), (0,), {"x": "float32[2] n=2 x∈[0, 1] μ=0.5 σ=0.5"},
)  # fmt: skip
STRAIGHT = EagerProgram(
    _HEAD
    + """
a = tf.constant([1.0, 0.0, 2.0])
b = 1.0 / a
c = tf.reduce_sum(b)
print(c.numpy())
""",
    "RealDiv", "b = 1.0 / a", "Division by 0", (1,), (1,), {"a": "float32[3] n=3 x∈[0, 2] μ=1 σ=0.8165"},
)  # fmt: skip
FUNCTION_TO_EAGER = EagerProgram(
    _HEAD
    + """
@tf.function
def scale(x):
    return x * 2.0


for i in range(4):
    y = scale(tf.constant([1.0, 2.0 - i]))
    z = tf.math.log(y)
print(z.numpy())
""",
    "Log", "z = tf.math.log(y)", "Log of 0", (1,), (1,), {"y": "float32[2] n=2 x∈[0, 2] μ=1 σ=1", "i": "2"},
)  # fmt: skip

PROGRAMS = {
    name.lower(): value for name, value in list(globals().items()) if isinstance(value, EagerProgram)
}  # fmt: skip
