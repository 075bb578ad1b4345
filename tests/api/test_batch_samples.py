"""Which sample of the epoch a row of the batch is: as Keras loops over arrays and datasets, and as programs do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.keras_steps import is_given_batches, part_name
from support.libraries import library
from support.prompt import Prompt
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf
X = np.arange(1, 61, dtype=np.float32).reshape(60, 1)
X[37] = -1.0  # the fifth batch of eight, and the sixth row of it
Y = np.zeros((60, 1), np.float32)


@pytest.fixture
def tf() -> Any:
    import tensorflow as tf

    return tf


def sample(front: ScriptedFrontend, program: Callable[[], object]) -> dict[str, Any] | None:
    """What `row` says of the sample where a watch over `program` stops."""
    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        program()
    found = Prompt(front.ends[0]).data("row")
    assert found["row"] == found["bad_rows"][0]
    assert found["components"][0]["value"] == [-1.0]
    told: dict[str, Any] | None = found["sample"]
    return told


@pytest.fixture(params=["keras", "tf_keras"])
def model(request: pytest.FixtureRequest, tf: Any) -> Iterator[Callable[..., Any]]:
    """Makes a model that takes the logarithm of what it gets."""
    keras = library(request.param)

    class Log(keras.layers.Layer):  # type: ignore[name-defined,misc]
        def call(self, given: Any) -> Any:
            return tf.math.log(given)

    def make(**options: Any) -> Any:
        made = keras.Sequential([keras.layers.Input((1,)), Log(), keras.layers.Dense(1)])
        made.compile("sgd", "mse", **options)
        return made

    yield make
    keras.backend.clear_session()


def batches(tf: Any, **options: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(8, **options)


FIFTH = {"number": 37, "certain": True, "order": "arrays", "step": 4, "epoch": 0, "loop": "fit"}


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}], ids=["graph", "eager"])
def test_arrays_that_stay_in_their_order(model, front, options) -> None:
    assert sample(front, lambda: model(**options).fit(X, Y, batch_size=8, shuffle=False, verbose=0)) == FIFTH


def test_arrays_in_a_later_epoch(model, front) -> None:
    made = model()
    made.fit(np.abs(X), Y, batch_size=8, verbose=0)
    found = sample(front, lambda: made.fit(X, Y, batch_size=8, shuffle=False, initial_epoch=2, epochs=3, verbose=0))
    assert found == {**FIFTH, "epoch": 2}


def test_arrays_of_evaluate(model, front) -> None:
    found = sample(front, lambda: model().evaluate(X, Y, batch_size=8, verbose=0))
    assert found == {**FIFTH, "epoch": None, "loop": "evaluate"}


def test_arrays_that_fit_validates_with(model, front) -> None:
    found = sample(front, lambda: model().fit(np.abs(X), Y, validation_data=(X, Y), batch_size=8, verbose=0))
    assert found == {**FIFTH, "epoch": None, "loop": "validation of fit"}


def test_shuffled_arrays_hide_it(model, front) -> None:
    found = sample(front, lambda: model().fit(X, Y, batch_size=8, verbose=0))
    assert found is not None
    assert (found["number"], found["order"], found["epoch"]) == (None, "shuffled", 0)


@pytest.mark.parametrize("even", [True, False])
def test_a_dataset_has_the_order_of_its_pipeline(model, front, tf, even: bool) -> None:
    found = sample(front, lambda: model().fit(batches(tf, drop_remainder=even), verbose=0))
    assert found is not None and (found["number"], found["order"], found["step"]) == (37, "pipeline", 4)
    # Keras 2 does not say how large the batches of a dataset are; nobody can where the last one may be smaller.
    assert even or not found["certain"]


def test_epochs_of_a_set_number_of_steps_go_on_in_the_data(model, front, tf) -> None:
    """Keras does not say where it is; where Python takes the batches from the iterator, they are counted."""
    repeated, made = batches(tf).repeat(), model()
    found = sample(front, lambda: made.fit(repeated, steps_per_epoch=3, epochs=2, verbose=0))
    if type(made).__module__.startswith("keras.") and is_given_batches():
        assert found is not None and (found["number"], found["step"], found["loop"]) == (37, 4, None)
    else:
        assert found is None


@pytest.mark.parametrize("steps", [2, 3, 7])
def test_several_steps_in_one_run_are_told_apart_by_their_turns(model, front, steps: int) -> None:
    made = model(steps_per_execution=steps)
    assert sample(front, lambda: made.fit(X, Y, batch_size=8, shuffle=False, verbose=0)) == FIFTH


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_data_are_known_as_what_fit_was_given_in_whatever_turn(front, steps: int) -> None:
    keras = library("keras")
    made = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
    made.compile("sgd", "mse", steps_per_execution=steps)
    given = np.where(X == -1, np.float32(np.nan), X)
    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        made.fit(given, Y, batch_size=8, shuffle=False, verbose=0)
    assert (
        Prompt(front.ends[0]).data("origin")["cause"] == "Already in the inputs (x) of the arrays that fit was given."
    )


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("dataset", [False, True])
def test_one_of_several_inputs_is_told_by_its_key(front, tf, steps: int, dataset: bool) -> None:
    keras = library("keras")
    inputs = {name: keras.Input((1,), name=name) for name in ("tenure", "age", "income")}
    joined = keras.layers.Concatenate()(list(inputs.values()))
    made = keras.Model(inputs, keras.layers.Dense(1)(joined))
    made.compile("sgd", "mse", steps_per_execution=steps)
    given = {name: np.abs(X) for name in inputs}
    given["income"] = np.where(X == -1, np.float32(np.nan), X)
    data = tf.data.Dataset.from_tensor_slices((given, Y)).batch(8)
    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        made.fit(*((data,) if dataset else (given, Y)), **{} if dataset else {"batch_size": 8}, verbose=0)
    prompt = Prompt(front.ends[0])
    origin, parts = prompt.data("origin"), prompt.data("row")["components"]
    which = "data that the input pipeline delivered" if dataset else "arrays that fit was given"
    assert origin["cause"] == f"Already in 'income' of the inputs (x) of the {which}."
    assert "is_finite(x['income'])" in origin["suggestion"].replace("isfinite", "is_finite")
    assert [part["key"] for part in parts] == ["age", "income", "tenure", None]
    assert "used as 'income' of the inputs (x)" in prompt.show("row")


def test_several_steps_of_a_dataset(model, front, tf) -> None:
    made = model(steps_per_execution=3)
    found = sample(front, lambda: made.fit(batches(tf), verbose=0))
    assert found is not None and (found["number"], found["order"], found["step"]) == (37, "pipeline", 4)


@pytest.mark.parametrize("kind", ["generator", "sequence"])
def test_batches_that_python_gives_are_no_data_set(model, front, kind: str) -> None:
    """A blind test: of a PyDataset the advice was to filter the data set, and that a pipeline may shuffle."""
    made = model()
    keras = library(type(made).__module__.partition(".")[0])

    class Batches(getattr(keras.utils, "PyDataset", keras.utils.Sequence)):  # type: ignore[misc]
        def __len__(self) -> int:
            return 7

        def __getitem__(self, at: int) -> tuple[Any, Any]:
            x = X[8 * at : 8 * at + 8]
            return np.where(x == -1, np.float32(np.nan), x), Y[8 * at : 8 * at + 8]

    batches = Batches() if kind == "sequence" else (Batches()[at] for at in range(7))
    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        made.fit(batches, shuffle=False, verbose=0)
    prompt = Prompt(front.ends[0], width=300)
    origin, row = prompt.data("origin"), prompt.show("row", 300)
    assert "filter" not in origin["suggestion"] and "np.isfinite" in origin["suggestion"]
    if not (is_given_batches() and made.__module__.startswith("keras.")):
        assert origin["cause"] == "Already in the inputs (x) of the batches that Python gave fit."
    assert "in the order that Python gave them in" in row and "pipeline" not in row


def test_a_step_that_takes_two_batches_is_not_told_apart(front, tf) -> None:
    keras = library("keras")

    class Two(keras.Model):  # type: ignore[name-defined,misc]
        def train_step(self, data: Any) -> Any:
            return {"loss": tf.reduce_sum(tf.math.log(data[0]))}

        def make_train_function(self, force: bool = False) -> Any:
            @tf.function
            def two(iterator: Any) -> Any:
                first, second = (self.train_step(next(iterator))["loss"] for _ in range(2))
                return {"loss": first + second}

            self.train_function = two

    made = Two()
    made.compile("sgd", "mse")
    assert sample(front, lambda: made.fit(batches(tf), verbose=0)) is None


ITERATED = {"number": 37, "certain": True, "order": "pipeline", "step": 4, "epoch": None, "loop": None}


@pytest.mark.parametrize("as_function", [True, False])
@pytest.mark.parametrize("prepared", [True, False])
def test_a_loop_of_the_program_over_a_dataset(front, tf, as_function: bool, prepared: bool) -> None:
    weight = tf.Variable(1.0)

    def step(x: Any, y: Any) -> Any:
        loss = tf.reduce_mean(weight * tf.math.log(x)) + tf.reduce_sum(y)
        weight.assign_add(0.0 * loss)
        return loss

    step = tf.function(step) if as_function else step

    def program() -> None:
        for x, y in batches(tf):
            step(tf.identity(x) if prepared else x, y)

    assert sample(front, program) == ITERATED


def test_an_iterator_that_a_function_asked_is_not_counted(front, tf) -> None:
    @tf.function
    def skip(iterator: Any) -> Any:
        return next(iterator)[0]

    @tf.function
    def step(x: Any) -> Any:
        return tf.reduce_sum(tf.math.log(x))

    def program() -> None:
        iterator = iter(batches(tf))
        next(iterator)
        skip(iterator)
        for x, _ in iterator:
            step(x)

    assert sample(front, program) is None


@pytest.mark.parametrize("by_class", [True, False])
def test_an_infinite_weight_of_a_class_is_not_taken_for_one_of_a_sample(model, front, by_class: bool) -> None:
    front.script = [RunUntil("has_inf_or_nan")]
    weights: dict[str, Any] = {"sample_weight": np.where(np.arange(60) == 37, np.inf, 1.0).astype(np.float32)}
    if by_class:
        weights = {"class_weight": {0: 1.0, 1: float("inf")}}
    labels = (np.arange(60) == 37).astype(np.float32)[:, None]
    with tf_debug.debugging():
        model().fit(np.abs(X), labels, batch_size=8, shuffle=False, verbose=0, **weights)
    told = Prompt(front.ends[0]).show("origin", 200).splitlines()
    whose = "weights that fit made of class_weight" if by_class else "sample weights of the arrays that fit was given"
    assert f"Cause     Already in the {whose}." in told


@pytest.mark.parametrize("kind", ["keras", "tf_keras"])
@pytest.mark.parametrize("weighted", [True, False])
def test_an_input_that_meets_the_prediction_without_a_layer_is_not_taken_for_the_targets(
    front, tf, kind: str, weighted: bool
) -> None:
    """As the exposure of a Poisson regression does: Keras knows which part is which."""
    keras = library(kind)

    class Rate(keras.Model):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, given: Any) -> Any:
            return self.dense(given["x"]) + tf.math.log(given["exposure"])

    exposure = np.abs(X)
    exposure[37] = 0.0
    made = Rate()
    made.compile("sgd", "mse")
    front.script = [RunUntil("has_inf_or_nan")]
    more = {"sample_weight": np.ones(60, np.float32)} if weighted else {}
    with tf_debug.debugging():
        made.fit({"x": X, "exposure": exposure}, Y, batch_size=8, shuffle=False, verbose=0, **more)
    told = Prompt(front.ends[0])
    # An argument of a function is flattened in the order in which its keys were written, a batch in that of the keys.
    given = kind == "keras" and is_given_batches()
    source = part_name(1) if given else "IteratorGetNext:0"
    assert f"Log of 0: {source} of the inputs (x) is 0 at 1 element." in told.show("origin", 200)
    roles = [one["role"] for one in told.data("row")["components"]]
    assert roles == ["the inputs (x)"] * 2 + ["the targets (y)"] + ["the sample weights"] * weighted


def test_a_row_that_was_set_is_no_sample_of_the_data(model, front) -> None:
    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        model().fit(X, Y, batch_size=8, shuffle=False, verbose=0)
    prompt = Prompt(front.ends[0])
    source = prompt.data("row")["components"][0]["name"]
    prompt.run(f"set {source}[2] 7")
    prompt.run("again")
    assert prompt.data("row 2")["components"][0]["value"] == [7.0]
    assert prompt.data("row 2")["sample"] is None
    assert prompt.data("row 5")["sample"]["number"] == 37
    prompt.run("original")
    prompt.run(f"set {source}[5] 7")
    prompt.run("again")
    assert prompt.data("origin")["tensor"] is None
    assert [prompt.data(f"row {row}")["sample"] for row in (2, 5)] == [None, None], "no row is bad any more"
    assert prompt.data("row 1")["sample"]["number"] == 33


@pytest.mark.parametrize(("size", "number", "single"), [(4, 13, False), (0, 13, True)])
def test_what_an_eager_loop_was_just_given_is_told(front, tf, size: int, number: int, single: bool) -> None:
    """The stop is at the op of the iterator, which has not handed it on yet."""
    data = np.ones((20, 6), np.float32)
    data[13] = np.nan
    dataset = tf.data.Dataset.from_tensor_slices(data).map(lambda one: one * 2.0).shuffle(1)
    dataset = dataset.batch(size) if size else dataset
    w = tf.Variable(1.0)
    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        for one in dataset:
            w.assign_add(tf.reduce_sum(one))
    prompt = Prompt(front.ends[0])
    found = prompt.data("row")["sample"]
    assert (found["number"], found.get("single", False), found["certain"]) == (number, single, True)
    assert ("of element 13 of the data set" in prompt.show("origin")) == single


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "function"])
def test_batches_that_a_program_takes_as_optionals_are_counted(front, tf, traced: bool) -> None:
    data = np.ones((20, 1), np.float32)
    data[13] = -1.0
    w = tf.Variable(1.0)

    def step(given: Any) -> None:
        w.assign_add(tf.reduce_sum(tf.math.log(given)))

    train = tf.function(step) if traced else step
    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        iterator = iter(tf.data.Dataset.from_tensor_slices(data).batch(4))
        while (optional := iterator.get_next_as_optional()).has_value():
            train(optional.get_value())
    prompt = Prompt(front.ends[0])
    found = prompt.data("row")["sample"]
    assert (found["number"], found["certain"], found["step"]) == (13, True, 3)
    (row,) = prompt.data("input")["rows"]
    assert row["record"] == 13


def test_an_argument_that_was_set_is_shown_as_it_was_set_behind_the_ops_that_made_it(front, tf) -> None:
    """A blind test: `row` showed what the iterator gave, and `origin` went back to it."""
    w = tf.Variable(1.0)

    @tf.function
    def step(x: Any, y: Any) -> None:
        w.assign_add(tf.reduce_sum(tf.math.log(x) - y))

    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        for x, y in batches(tf):
            step(x, y)
    prompt = Prompt(front.ends[0])
    prompt.run("set x[2] 7")
    prompt.run("again")
    shown = prompt.data("row 2")
    assert ([one["value"] for one in shown["components"]], shown["sample"]) == ([[7.0], [0.0]], None)
    assert prompt.data("row 5")["sample"]["number"] == 37
    assert "eager/" not in prompt.show("origin", 200)
