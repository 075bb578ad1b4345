"""`tfdbg checkpoint --against`: a program is run until it can be asked what it would take of a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.checkpoint_maker import checkpoint
from support.launched import python

from tfdbg_cli.cli import main as cli
from tfdbg_cli.cli import program_variables

Told = tuple[int, dict[str, Any]]

_OBJECTS = """\
import sys
import tensorflow as tf

class Model(tf.Module):
    def __init__(self, size):
        self.w = tf.Variable(tf.ones([size]), name="w")
        self.b = tf.Variable(tf.ones([2]), name="b")

    @tf.function
    def __call__(self):
        return tf.reduce_sum(self.w) + tf.reduce_sum(self.b)

@tf.function
def without(x):
    return x + 1

model = Model(int(sys.argv[2]))
held = tf.train.Checkpoint(**{sys.argv[3]: model})
if sys.argv[1] == "save":
    held.write("saved")
else:
    print("prints", without(tf.constant(1)).numpy())
    other = tf.Variable(1.0, name="other")
    held.read("saved") if sys.argv[1] == "read" else None
    model()
    open("reached", "w").close()
"""

_SESSION = """\
import sys
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
with tf.variable_scope(sys.argv[2]):
    split = tf.fixed_size_partitioner(3, axis=0)
    tf.get_variable("wide", [300, 2], partitioner=split)
    w = tf.get_variable("w", [3])
saver = tf.train.Saver()
with tf.Session() as session:
    if sys.argv[1] == "save":
        session.run(tf.global_variables_initializer())
        saver.save(session, "./saved")
    else:
        session.run(w.initializer)
        open("reached", "w").close()
"""

_EAGER = """\
import sys
import tensorflow as tf

w = tf.Variable(tf.ones([3]), name="w")
optimizer = tf.keras.optimizers.Adam()
held = tf.train.Checkpoint(w=w, optimizer=optimizer)
for step in range(int(sys.argv[1])):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w**2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
if len(sys.argv) > 2:
    held.write("saved")
else:
    open("reached", "w").close()
"""


class _Programs:
    """A program that saves, and is asked then."""

    def __init__(self, folder: Path, text: str) -> None:
        self._folder = folder
        (folder / "train.py").write_text(text)

    def save(self, *words: str) -> None:
        done = python(self._folder / "train.py", *words, folder=self._folder)
        assert done.returncode == 0, done.stderr

    def asked(self, *words: str) -> Told:
        code, text = self._against(words, "--json")
        told: dict[str, Any] = json.loads(text)
        return code, told

    def shown(self, *words: str) -> str:
        return self._against(words)[1]

    def _against(self, words: Sequence[str], *options: str) -> tuple[int, str]:
        """The exit code, and what is printed; the program that is asked is a fork, as in `python`."""
        against = " ".join(("train.py", *words))
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as printed:
            patch.chdir(self._folder)
            patch.setattr(
                program_variables, "_exit_code", lambda asked: python(*asked, folder=self._folder).returncode
            )
            code = cli.main(["checkpoint", "saved", "--against", against, *options])
        return code, printed.getvalue()

    @property
    def went_on(self) -> bool:
        return (self._folder / "reached").exists()


@pytest.mark.tf
def test_a_program_with_objects(tmp_path: Path) -> None:
    programs = _Programs(tmp_path, _OBJECTS)
    programs.save("save", "3", "model")
    code, told = programs.asked("read", "3", "model")
    assert (code, told["paired_by"], told["not_filled"], told["not_taken"]) == (0, "objects", [], [])
    assert told["outside"] == ["other"]
    assert told["moment"].startswith("before run #2") and not programs.went_on
    code, told = programs.asked("leave", "4", "model")
    assert (code, told["misfits"]) == (1, ["w"])
    code, told = programs.asked("leave", "3", "net")  # the same names, and nothing would be restored
    assert (code, sorted(told["not_filled"])) == (1, ["b", "w"])
    assert {one["name"]: one["suggestion"] for one in told["not_taken"]} == {"model/b": "b", "model/w": "w"}
    assert not programs.went_on


@pytest.mark.tf
def test_the_program_is_asked_in_an_interpreter_of_its_own(tmp_path: Path) -> None:
    _Programs(tmp_path, _OBJECTS).save("save", "3", "model")
    words = ["-m", "tfdbg_cli", "checkpoint", "saved", "--against", "train.py read 3 model", "--json"]
    done = python(*words, folder=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["paired_by"]) == (0, "objects")
    assert "prints 2" in done.stderr and not (tmp_path / "reached").exists()


@pytest.mark.tf
def test_where_the_variables_cannot_be_found_the_program_does_not_go_on(tmp_path: Path) -> None:
    spoil = "    from tfdbg_cli.capture.intercept import first_use\n    first_use.variables_of = None\n"
    programs = _Programs(tmp_path, _OBJECTS.replace("    other =", spoil + "    other ="))
    programs.save("save", "3", "model")
    code, told = programs.asked("leave", "3", "model")
    assert code == 2 and "was not asked for its variables" in told["error"] and not programs.went_on


@pytest.mark.tf
def test_a_program_that_fails_is_asked_where_it_does(tmp_path: Path) -> None:
    text = _OBJECTS.replace('held.read("saved")', 'held.read("saved").assert_consumed().no_such')
    programs = _Programs(tmp_path, text)
    programs.save("save", "3", "model")
    code, told = programs.asked("read", "3", "model")
    assert (code, told["moment"]) == (0, "where the program raised AttributeError")
    assert [one["saved"] for one in told["variables"] if one["filled"]] == ["model/w", "model/b"]


@pytest.mark.tf
def test_a_program_with_a_session(tmp_path: Path) -> None:
    programs = _Programs(tmp_path, _SESSION)
    programs.save("save", "a")
    code, told = programs.asked("load", "a")
    assert (code, told["paired_by"], told["same"]) == (0, "names", True)
    assert {one["name"] for one in told["variables"]} == {"a/wide", "a/w"}
    assert cli.main(["checkpoint", str(tmp_path / "saved"), str(tmp_path / "saved.meta")]) == 0
    assert cli.main(["checkpoint", str(tmp_path / "saved"), str(tmp_path / "saved")]) == 0
    code, told = programs.asked("load", "b")
    assert code == 1 and {one["name"]: one["suggestion"] for one in told["not_taken"]}["a/w"] == "b/w"
    wider = _Programs(tmp_path, _SESSION.replace("[300, 2]", "[301, 2]"))
    code, told = wider.asked("load", "a")
    assert (code, told["misfits"], told["not_filled"]) == (1, ["a/wide"], [])
    assert not programs.went_on


_KERAS = """\
import sys
import tensorflow as tf
from beside import UNITS

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(UNITS, name="first")])
model.compile("adam", "mse")
if sys.argv[1] == "forget":
    held = tf.train.Checkpoint(model=tf.train.Checkpoint(layer=model.layers[0]))
else:
    held = tf.train.Checkpoint(model=model)
model.fit(tf.ones([4, 3]), tf.ones([4, UNITS]), verbose=0)
held.write("saved") if sys.argv[1] == "save" else open("reached", "w").close()
"""


@pytest.mark.tf
def test_a_model_of_keras(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("UNITS = 2")
    programs = _Programs(tmp_path, _KERAS)
    programs.save("save")
    code, told = programs.asked("load")
    assert code == 0 and {"first/kernel", "first/bias"} <= {
        one["name"].partition("/")[2] for one in told["variables"] if one["filled"]
    }
    assert any("momentum" in one["name"] for one in told["variables"] if one["filled"])
    assert told["outside"] == ["loss/total", "loss/count"]
    code, told = programs.asked("forget")
    assert code == 1 and any("momentum" in name for name in told["outside"])
    assert any("momentum" in one["full_name"] for one in told["not_taken"]) and not programs.went_on


_SPREAD = """\
import sys
import tensorflow as tf

(device,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(device, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    w = tf.Variable(tf.ones([3]), name="w")
held = tf.train.Checkpoint(w=w)

@tf.function
def step():
    return strategy.run(lambda: w + 1)

if sys.argv[1] == "save":
    held.write("saved")
step()
"""


@pytest.mark.tf
def test_a_variable_with_a_part_on_each_device_is_one(tmp_path: Path) -> None:
    programs = _Programs(tmp_path, _SPREAD)
    programs.save("save")
    code, told = programs.asked("load")
    assert (code, told["paired_by"]) == (0, "objects")
    assert [one["name"] for one in told["variables"] if one["filled"]] == ["w"]


@pytest.mark.tf
def test_a_program_that_runs_eagerly_is_asked_once_its_optimizer_made_its_variables(tmp_path: Path) -> None:
    programs = _Programs(tmp_path, _EAGER)
    programs.save("2", "save")
    code, told = programs.asked("5")
    assert (code, told["moment"], told["same"]) == (0, "before the second gradient of its eager code", True)
    assert not programs.went_on
    code, told = programs.asked("1")
    assert code == 0 and told["moment"].startswith("at the end of the program") and programs.went_on


_TWO = """\
import sys
import tensorflow as tf

class Net(tf.Module):
    def __init__(self, name):
        self.w = tf.Variable(1.0, name=name)

one, two, lone = Net("one"), Net("two"), Net("lone")
held, other = tf.train.Checkpoint(one=one), tf.train.Checkpoint(two=two)
if sys.argv[1] == "save":
    held.write("saved")
if sys.argv[1] == "read":
    held.read("saved")
tf.function(lambda: one.w + two.w + lone.w)()
"""


@pytest.mark.tf
def test_two_checkpoint_objects(tmp_path: Path) -> None:
    programs = _Programs(tmp_path, _TWO)
    programs.save("save")
    for words, which in (
        ("leave", "Of 2 tf.train.Checkpoint objects that of one is taken: none would fill more."),
        ("read", "The program restores by the tf.train.Checkpoint of one."),
    ):
        code, told = programs.asked(words)
        assert (code, told["root"], told["elsewhere"], told["outside"]) == (0, ["one"], ["two"], ["lone"])
        shown = programs.shown(words)
        assert which in shown and "Only another tf.train.Checkpoint of the program leads to 1 variable:" in shown
        assert "All 1 variable that this tf.train.Checkpoint leads to would be filled" in shown


@pytest.mark.parametrize(
    ("text", "ending", "hint"),
    [
        ("def f(:", "ended with exit code 1", "standard error"),
        ("import sys; sys.exit(3)", "ended with exit code 3", "standard error"),
        ("import sys; sys.exit('why')", "ended with exit code 1", "standard error"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by signal 9", "standard error"),
        ("print('no TensorFlow')", "ended with exit code 0", "import TensorFlow"),
    ],
)
def test_a_program_that_could_not_be_asked_ended_as_it_does_without_tfdbg(
    tmp_path: Path, text: str, ending: str, hint: str
) -> None:
    """A blind test: a script with an error of syntax was said to have ended with exit code 0."""
    checkpoint(tmp_path / "saved", {"w": np.ones(2)})
    code, told = _Programs(tmp_path, text).asked()
    assert (code, told["error"]) == (2, f"train.py {ending}, and was not asked for its variables.")
    assert hint in told["hint"]
