"""`input`: the records behind rows of the batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.golden import check_golden
from support.known_records import FOUND, Data, batch
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.model.batch_place import BatchPlace, Order
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.records import FoundRecords, Record
from tfdbg_cli.model.runs import Change


def test_the_screen() -> None:
    prompt = Prompt(batch(Data(FOUND)))
    check_golden("commands/input", "\n\n".join(prompt.show(text) for text in ("input", "input 0:3", "input 5")))


def test_for_scripts() -> None:
    data = Data(FOUND)
    prompt = Prompt(batch(data))
    told = prompt.data("input")
    assert (told["kind"], told["size"], told["source"], told["notes"]) == ("input", 6, "x:0", list(FOUND.notes))
    assert told["rows"] == [
        {"row": 1, "bad": True, "file": "/data/train.tfrecord-00002", "record": 40213, "key": "income", "alike": 1},
        {"row": 4, "bad": True, "file": "/data/train.tfrecord-00011", "record": 7, "key": "income", "alike": 3},
    ]
    ((rows, component, seconds),) = data.asked
    assert [(row.row, row.number, sorted(row.parts)) for row in rows] == [(1, None, [0, 1]), (4, None, [0, 1])]
    assert (component, seconds) == (0, 10.0)
    assert prompt.data("input 2")["rows"][0]["record"] is None


def test_a_batch_that_was_set_is_said_to_be_so() -> None:
    run = batch(Data(FOUND))
    note = "The batch holds what `set` gave it, in place of what came in."
    for name, notes in (("x", [note, *FOUND.notes]), ("y", list(FOUND.notes))):
        made = replace(run, change=Change(run, {TensorName(name, 0): np.float32(0)}, 1))
        assert Prompt(made).data("input")["notes"] == notes


def test_what_was_found_is_not_looked_for_again() -> None:
    data = Data(FOUND)
    prompt = Prompt(batch(data))
    for command in ("input", "input", "input -s 60", "input 1", "input 3:", "input 3:"):
        prompt.run(command)
    assert [seconds for _, _, seconds in data.asked] == [10.0, 60.0, 10.0, 10.0]


def test_bad_rows_come_first() -> None:
    rows = Prompt(batch(Data(FOUND))).data("input 0:9")["rows"]
    assert [row["row"] for row in rows] == [1, 4, 0, 2, 3, 5]


def test_the_number_of_the_sample_is_told_where_the_order_is_known() -> None:
    for order, number in ((Order.ARRAYS, 37), (Order.SHUFFLED, None), (Order.PIPELINE, None)):
        data = Data(FOUND)
        Prompt(batch(data, BatchPlace(6, order, 36, 0, "fit"))).run("input")
        assert data.asked[0][0][0].number == number


def test_row_tells_what_is_found_without_running_anything() -> None:
    shuffled = BatchPlace(6, Order.SHUFFLED, 36, 0, "fit")
    found = FoundRecords({1: Record(40213, key="X")})
    assert "Sample    40,213 of X, by what it holds, from 0: step 7" in Prompt(batch(Data(found), shuffled)).show(
        "row"
    )
    slow = Data(found, quick=False)
    assert "Sample    unknown" in Prompt(batch(slow, shuffled)).show("row") and not slow.asked


def test_why_it_cannot_be_told() -> None:
    told = Prompt(batch(None)).data("input")
    assert told["rows"][0]["record"] is None and "Nobody noted" in told["notes"][0]
    assert "noted where Python takes it from an iterator" in told["notes"][0], "and not in graphs or by strategies"
    opened = Prompt(replace(batch(None), origin_path="/runs")).data("input")
    assert "are not there" in opened["notes"][0]


def test_mistakes() -> None:
    prompt = Prompt(batch(Data(FOUND)))
    assert "Cannot read the rows" in prompt.error("input a").message
    assert "has 6" in prompt.error("input 6").message
    assert "end before" in prompt.error("input 3:3").message
    for text in ("0", "-1", "abc", "nan"):
        said = prompt.error(f"input --seconds {text}").message
        assert f"a number of seconds above 0 is needed, not '{text}'" in said
    assert "no row is bad" in Prompt(made_run(op("x", "Placeholder", value=[1.0]))).error("input").message
