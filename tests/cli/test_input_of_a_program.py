"""`input` through the whole program: from a bad row to the record of its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

PROGRAM = """
import sys
import numpy as np
import tensorflow as tf

x = np.random.default_rng(1).random((40, 3)).astype("float32")
x[27, 1] = np.nan
names = [f"{sys.argv[1]}/part-{number}" for number in range(4)]
for number, name in enumerate(names):
    with tf.io.TFRecordWriter(name) as writer:
        for row in x[10 * number : 10 * number + 10]:
            feature = tf.train.Feature(float_list=tf.train.FloatList(value=row))
            features = tf.train.Features(feature={"income": feature})
            writer.write(tf.train.Example(features=features).SerializeToString())

def parse(text):
    return tf.io.parse_single_example(text, {"income": tf.io.FixedLenFeature([3], tf.float32)})["income"] * 2.0

w = tf.Variable(tf.ones([3, 1]))

@tf.function
def step(x):
    w.assign_sub(1e-3 * tf.reduce_mean(x) * tf.ones([3, 1]))
    return tf.reduce_mean(x @ w)

files = tf.data.Dataset.list_files(f"{sys.argv[1]}/part-*")
for batch in files.interleave(tf.data.TFRecordDataset, cycle_length=2).shuffle(20).map(parse).batch(8):
    step(batch)
print("end")
"""


GIVEN = """
import sys
import keras
import numpy as np

data, zeros = np.ones((16, 3), np.float32), np.zeros((16, 1))
data[9, 1] = np.nan
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
if sys.argv[1] == "on_batch":
    for at in range(0, 16, 4):
        model.train_on_batch(data[at : at + 4] * 1, zeros[at : at + 4])
else:
    given = {"batch_size": 4, "shuffle": False, "verbose": 0}
    if sys.argv[1] == "whole":
        model.fit(data, zeros, **given)
    else:
        model.fit(np.asfortranarray(data)[::-1], zeros, **given)
"""


@pytest.mark.parametrize(
    ("how", "record", "key"), [("on_batch", 1, "argument x"), ("expression", 6, "argument x"), ("whole", 9, "data")]
)
def test_an_array_that_the_program_calls_nothing_has_the_name_of_no_variable(tmp_path, how, record, key) -> None:
    (tmp_path / "train.py").write_text(GIVEN)
    words = ["run", "--until", "has_inf_or_nan", "--json", "-c", "input", "-c", "detach"]
    done = python("-m", "tfdbg_cli", *words, str(tmp_path / "train.py"), how)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    (row,) = next(line for line in lines if line.get("command") == "input")["rows"]
    assert (row["record"], row["key"]) == (record, key)


def test_the_record_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    words = ["run", "--until", "has_inf_or_nan", "--json", "-c", "input", "-c", "detach"]
    done = python("-m", "tfdbg_cli", *words, str(tmp_path / "train.py"), str(tmp_path))
    assert "end" in done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    told = next(line for line in lines if line.get("command") == "input")
    (row,) = told["rows"]
    assert (row["record"], row["file"], row["key"]) == (7, str(tmp_path / "part-2"), "income")
