"""Documents as files: what each end of a name gives, and that no name or value can break out of it."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import sample_run
from support.prompt import Prompt

from tfdbg_cli.document.ansi import CODES
from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.exports.by_name import EXPORTS, exported
from tfdbg_cli.document.exports.csv_rows import csv_text
from tfdbg_cli.document.exports.looks import BACK, FRONT, LOOKS
from tfdbg_cli.document.text import Line, Span, Style
from tfdbg_cli.errors import TfdbgError

TEXTS = st.text(max_size=20)
DOCUMENTS = st.lists(st.lists(st.tuples(TEXTS, st.sampled_from(list(Style))), max_size=4), max_size=5).map(
    lambda rows: text_document("made", *(Line(tuple(Span(text, style) for text, style in row)) for row in rows))
)


class _Words(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def _plain(document: Document) -> str:
    return exported(document, "made", "x.txt")


@given(DOCUMENTS)
def test_a_page_says_what_the_screen_says_and_nothing_runs_in_it(document):
    page = _Words(exported(document, "made", "x.html"))
    assert page.tags <= {"html", "head", "meta", "title", "body", "pre", "span"}
    shown = page.text.partition("made")[2].strip("\n")
    assert [row.rstrip() for row in shown.split("\n")] == [
        row.rstrip() for row in _plain(document).strip("\n").split("\n")
    ]


@given(DOCUMENTS)
def test_a_picture_is_sound_xml_with_the_words_of_the_screen(document):
    root = ET.fromstring(exported(document, "made", "x.svg"))
    drawn = "".join("".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "".join(drawn.split()) == "".join(_plain(document).split())


@given(DOCUMENTS)
def test_no_terminal_code_of_a_name_gets_into_a_file_of_colours(document):
    text = exported(document, "made", "x.ansi")
    for code in {"0", *filter(None, CODES.values())}:
        text = text.replace(f"\x1b[{code}m", "")
    assert [row.rstrip(" ") for row in text.split("\n")] == _plain(document).split("\n")


@given(st.lists(st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(), st.booleans()), min_size=1), min_size=1))
def test_a_table_comes_back_from_csv(rows):
    document = Document("made", (), lambda: {"rows": rows, "total": len(rows)})
    read = list(csv.DictReader(io.StringIO(exported(document, "made", "x.csv"), newline="")))
    assert [{key: value for key, value in row.items() if value} for row in read] == [
        {key: str(value) for key, value in row.items() if str(value)} for row in rows
    ]


def test_tensors_with_their_statistics_as_rows():
    document = Prompt(sample_run.run_end()).document("lt --stats")
    rows = list(csv.DictReader(io.StringIO(exported(document, "lt", "TENSORS.CSV"))))
    log = next(row for row in rows if row["name"] == "loss/Log:0")
    assert (log["shape"], log["dtype"], log["summary.neg_inf"]) == ("4 2", "float32", "2")


def test_json_is_that_of_the_json_flag():
    document = Prompt(sample_run.run_end()).document("lt")
    assert json.loads(exported(document, "lt", "x.json"))["kind"] == "tensors"


def test_what_is_no_table_says_so():
    with pytest.raises(TfdbgError, match=r"no table in `ri`"):
        exported(text_document("info"), "ri", "x.csv")


@pytest.mark.parametrize(
    ("name", "hint"), [("w.npy", "export"), ("w.NPZ", "export"), ("w.png", ".svg"), ("w.safetensors", "export")]
)
def test_no_text_is_written_under_the_name_of_something_else(name, hint, tmp_path):
    error = Prompt(sample_run.run_end()).error(f"pt loss/Log:0 > {tmp_path / name}")
    assert "A screen is text" in error.message and hint in error.hint
    assert not list(tmp_path.iterdir())


def test_a_picture_of_a_million_lines_is_refused():
    with pytest.raises(TfdbgError, match="2,000 lines"):
        exported(text_document("made", *[Line((Span("x"),))] * 2001), "made", "x.svg")


def test_every_style_can_be_read_on_its_ground():
    """WCAG 2.1, 1.4.3: a contrast of 4.5."""
    for look in LOOKS.values():
        light, dark = sorted((_luminance(look.front or FRONT), _luminance(look.back or BACK)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def _luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("end", [*EXPORTS, ".txt"])
def test_a_command_writes_each_kind_of_file(end, tmp_path):
    Prompt(sample_run.run_end()).document(f"lt > {tmp_path / 'out'}{end}")
    assert "loss/Log:0" in (tmp_path / f"out{end}").read_text(encoding="utf-8")


def test_a_curve_has_a_row_for_each_of_its_steps() -> None:
    series = [
        {"name": "dense", "quantity": "weight", "steps": [1, 2], "values": [0.5, None]},
        {"name": "b, c", "quantity": "gradient", "steps": [2], "values": [float("nan")]},
    ]
    assert csv_text({"series": series}, "trends").split("\r\n")[:4] == [
        "name,quantity,step,value", "dense,weight,1,0.5", "dense,weight,2,", '"b, c",gradient,2,nan',
    ]  # fmt: skip
    shapes = csv_text({"tensors": [{"name": "x", "shape": [2, 3], "steps": [1], "values": [1, 2]}]}, "lt")
    assert shapes == "name,shape,steps,values\r\nx,2 3,1,1 2\r\n"


def test_a_function_has_a_row_for_each_of_its_traces() -> None:
    cause = {"argument": "i", "old": "0", "new": "1"}
    traces = [
        {"signature": "i: 0", "count": 1, "seconds": 0.5, "cause": None, "differences": []},
        {"signature": "i: 1", "count": 2, "seconds": None, "cause": cause, "differences": [cause]},
    ]
    function = {"name": "step", "line": 3, "traces": traces, "advice": [{"argument": "i", "text": "…"}]}
    assert csv_text({"functions": [function]}, "traces").split("\r\n")[:3] == [
        "name,line,trace.signature,trace.count,trace.seconds,trace.cause.argument,trace.cause.old,trace.cause.new",
        "step,3,i: 0,1,0.5,,,",
        "step,3,i: 1,2,,i,0,1",
    ]


def test_a_profile_has_a_row_for_each_execution_with_its_device() -> None:
    """A blind test: a row a device, whose executions stood in one cell as Python writes dicts."""
    executions = [{"node": "a", "op_us": 1.5, "file": None}, {"node": "b", "op_us": 2.25, "file": "x.py"}]
    devices = [{"device": "CPU:0", "op_us": 3.75, "executions": executions}]
    assert csv_text({"devices": devices}, "lp").split("\r\n")[:3] == [
        "device,node,op_us,file", "CPU:0,a,1.5,", "CPU:0,b,2.25,x.py",
    ]  # fmt: skip
