"""Which records of the program's data the rows of a batch are: of arrays that Keras was given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.libraries import library
from support.prompt import Prompt
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf
DATA = np.random.default_rng(5).random((60, 2))  # float64, which Keras casts
DATA[37, 1] = np.nan
LABELS = np.arange(60) % 3


@pytest.fixture(params=["keras", "tf_keras"])
def model(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Makes a model of one layer."""
    keras = library(request.param)

    def make(**options: Any) -> Any:
        made = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
        made.compile("sgd", "mse", **options)
        return made

    yield make
    keras.backend.clear_session()


def stopped(front: ScriptedFrontend, program: Callable[[], object]) -> Prompt:
    """The prompt at which a watch over `program` stops."""
    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        program()
    return Prompt(front.ends[0], width=200)


def told(prompt: Prompt) -> tuple[int, str]:
    """The record behind the one bad row, and its key."""
    (row,) = prompt.data("input")["rows"]
    assert row["bad"] and row["file"] is None and row["row"] == prompt.data("row")["row"]
    return row["record"], row["key"]


PROGRAMS: dict[str, Callable[[Any], object]] = {
    "shuffled": lambda made: made.fit(DATA, LABELS, batch_size=8, verbose=0),
    "in order": lambda made: made.fit(DATA, LABELS, batch_size=8, shuffle=False, verbose=0),
    "split": lambda made: made.fit(DATA, LABELS, batch_size=8, validation_split=0.5, verbose=0),
    "validated": lambda made: made.fit(
        np.abs(LABELS[:, None] + np.zeros((1, 2))), LABELS, validation_data=(DATA, LABELS), verbose=0
    ),
    "evaluated": lambda made: made.evaluate(DATA, LABELS, batch_size=8, verbose=0),
    "predicted": lambda made: made.predict(DATA, batch_size=8, verbose=0),
    "a part": lambda made: made.fit(DATA[20:], LABELS[20:], batch_size=8, verbose=0),
    "by steps": lambda made: made.fit(DATA, LABELS, steps_per_epoch=6, verbose=0),
    "one batch": lambda made: made.train_on_batch(DATA[30:50], LABELS[30:50]),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_record_in_the_array(model, front, program: str) -> None:
    assert told(stopped(front, lambda: PROGRAMS[program](model()))) == (37, "DATA")


@pytest.mark.parametrize("options", [{"run_eagerly": True}, {"steps_per_execution": 3}], ids=str)
def test_however_keras_runs_its_steps(model, front, options: dict[str, Any]) -> None:
    assert told(stopped(front, lambda: model(**options).fit(DATA, LABELS, batch_size=8, verbose=0))) == (37, "DATA")


def test_the_line_of_row_tells_it(model, front) -> None:
    prompt = stopped(front, lambda: model().fit(DATA, LABELS, batch_size=8, verbose=0))
    assert "Sample    37 of DATA, by what it holds, from 0: step" in prompt.show("row", 200)
    assert prompt.data("row")["sample"]["number"] is None


def test_records_that_are_alike(model, front) -> None:
    data = DATA.copy()
    data[51] = data[37]
    prompt = stopped(front, lambda: model().fit(data, np.zeros(60), batch_size=60, verbose=0))
    rows = prompt.data("input")["rows"]
    assert [(row["record"], row["alike"], row["key"]) for row in rows] == [(37, 2, "data")] * 2
    chosen = prompt.data("input 0:60")["rows"]
    assert [row["bad"] for row in chosen] == [True] * 2 + [False] * 58
    assert {row["record"] for row in chosen} == set(range(60)) - {51}


def test_parts_go_by_their_keys(front) -> None:
    keras = library("keras")
    inputs = {name: keras.Input((1,), name=name) for name in ("tenure", "age")}
    made = keras.Model(inputs, keras.layers.Dense(1)(keras.layers.Concatenate()(list(inputs.values()))))
    made.compile("sgd", "mse")
    given = {"tenure": DATA[:, :1], "age": DATA[:, 1:]}
    prompt = stopped(front, lambda: made.fit(given, LABELS, batch_size=8, verbose=0))
    assert told(prompt) == (37, "age")


def test_the_training_goes_on_as_without_it(model, front) -> None:
    def program() -> Any:
        keras = library("keras")
        keras.utils.set_random_seed(3)
        made = model()
        made.fit(DATA, LABELS, batch_size=8, verbose=0)
        return np.random.random(), made.predict(np.abs(np.nan_to_num(DATA)), verbose=0).tobytes()

    alone = program()
    found: list[Any] = []
    front.script = [RunUntil("has_inf_or_nan")]
    with tf_debug.debugging():
        found.append(program())
    Prompt(front.ends[0]).data("input")
    assert found == [alone]
