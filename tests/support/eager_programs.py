"""Programs that run eagerly, as people write them, each with the first value that is not finite in its middle."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EagerProgram:
    """A script. `origin` is the op type that first gives what is not finite, `text` a part of the program's line.

    `cause` is a part of the sentence that explains it, `rows` the rows of the batch that did it, None where there is
    no batch. `names` are local names of the innermost call of the program.
    """

    text: str
    origin: str
    line: str
    cause: str
    rows: tuple[int, ...] | None
    names: tuple[str, ...]


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
    "Log", "tf.math.log(tf.nn.relu(x @ w))", "Log of 0", (0, 1, 2, 3), ("x", "i", "w"),
)  # fmt: skip
GRADIENT = EagerProgram(
    _HEAD
    + """
x = tf.Variable([1.0, 4.0, 0.0])
for i in range(5):
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.sqrt(x))
    g = t.gradient(y, x)
    x.assign_sub(0.01 * g)
print(x.numpy())
""",
    "SqrtGrad", "t.gradient(y, x)", "square root", None, ("x", "y", "i"),
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
    "RealDiv", "self.optimizer.apply_gradients", "0 / 0", None, ("self", "x", "loss", "gradient"),
)  # fmt: skip
UPDATED = EagerProgram(
    _HEAD
    + """
w = tf.Variable([3e38, 1.0])
for i in range(3):
    w.assign_add([1e38 * i, 0.0])
print(w.numpy())
""",
    "UpdatedVariable", "w.assign_add", "w", None, ("w", "i"),
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
    out = forward(tf.ones((2, 4)) * float(step))
print(out.numpy().max())
""",
    "MatMul", "tf.nn.relu(x @ w)", "Overflow", None, ("x", "w"),
)  # fmt: skip
HELPER = EagerProgram(
    _HEAD
    + """
for i in range(4):
    n = tf.linalg.normalize((2.0 - i) * tf.ones((2, 3)), axis=1)[0]
print(n.numpy())
""",
    "RealDiv", "tf.linalg.normalize", "norm of 0", None, ("i",),
)  # fmt: skip
THREAD = EagerProgram(
    _HEAD
    + """
import threading


def work():
    v = tf.Variable(2.0)
    for i in range(5):
        v.assign_sub(1.0)
        r = tf.math.log(v)
    print(r.numpy())


thread = threading.Thread(target=work, name="worker")
thread.start()
thread.join()
""",
    "Log", "tf.math.log(v)", "Log of 0", None, ("v", "i"),
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
    r = strategy.run(step, args=(tf.constant(float(i)),))
print(strategy.experimental_local_results(r)[0].numpy())
""",
    "Log", "tf.math.log(v - x)", "Log of 0", None, ("x", "tape"),
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
    "Log", "tf.math.log(tf.cast", "Log of 0", (0, 1, 2), ("y_pred", "self"),
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
    "Log", "tf.math.log(x - 1.0)", "Log of 0", (0,), ("x",),
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
    "IteratorGetNext", "for v in data:", "input pipeline", None, ("data", "total"),
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
    "Log", "tf.math.log(z)", "Log of 0", None, ("z",),
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
    "Log", "tf.math.log(x)", "Log of 0", (0,), ("x",),
)  # fmt: skip
STRAIGHT = EagerProgram(
    _HEAD
    + """
a = tf.constant([1.0, 0.0, 2.0])
b = 1.0 / a
c = tf.reduce_sum(b)
print(c.numpy())
""",
    "RealDiv", "b = 1.0 / a", "Division by 0", (1,), ("a",),
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
    "Log", "z = tf.math.log(y)", "Log of 0", (1,), ("y", "i"),
)  # fmt: skip

PROGRAMS = {
    name.lower(): value for name, value in list(globals().items()) if isinstance(value, EagerProgram)
}  # fmt: skip
