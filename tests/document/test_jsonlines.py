import json
from typing import get_args

import ml_dtypes
import numpy as np

from tfdbg_cli.document.document import Document
from tfdbg_cli.document.jsonlines import decision_json, document_json, error_json
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import Decision, RecordRun, RecordRuns, RunTo, RunUntil
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.pausing import Place


def test_an_object_a_line_with_strict_json():
    data = {
        "value": np.array([1.5, np.nan, -np.inf], np.float32),
        "half": ml_dtypes.bfloat16(2),
        "z": 1 + 2j,
        "text": b"caf\xc3\xa9\xff",
        "shape": (2, 3),
        "none": None,
        "count": np.int64(7),
        "name": TensorName("a", 1),
    }
    text = document_json("pt x:0", Document("tensor", (), lambda: data))
    assert "\n" not in text
    found = json.loads(text, parse_constant=lambda name: 1 / 0)
    assert found == {
        "command": "pt x:0",
        "kind": "tensor",
        "value": [1.5, "nan", "-inf"],
        "half": 2.0,
        "z": [1.0, 2.0],
        "text": "café\\xff",
        "shape": [2, 3],
        "none": None,
        "count": 7,
        "name": "a:1",
    }


def test_what_a_terminal_would_obey_is_escaped_and_stays_the_same_text():
    odd = "a\x7f\x85\x9b31m\u202e\u2066\u200f\u2028\ufeff\U000e0001\ud800é漢🙂"
    text = document_json(f"pt {odd}", Document("tensor", (), lambda: {odd: [odd]}))
    assert text.isprintable()
    text.encode("utf-8")
    found = json.loads(text)
    assert found[odd] == [odd]
    assert found["command"] == f"pt {odd}"
    assert "é漢🙂" in text, "what people write stays readable"
    assert error_json("x", TfdbgError(odd)).isprintable()


def test_errors_carry_their_hint():
    text = error_json("pt y", TfdbgError("There is no node 'y'.", hint="Did you mean x?"))
    assert json.loads(text) == {"command": "pt y", "error": "There is no node 'y'.", "hint": "Did you mean x?"}


def test_every_decision_has_a_name_in_json() -> None:
    given = {RunUntil: ("has_nan",), RecordRun: ("case",), RecordRuns: ("runs",), RunTo: (Place("Log"),)}
    names = [json.loads(decision_json("x", kind(*given.get(kind, ()))))["decision"] for kind in get_args(Decision)]
    assert len(set(names)) == len(names)
