"""`lt`: every flag, the heads that sort, the reasons for an empty list."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import sample_run
from support.golden import check_golden
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.profile import Profile
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.tensors import EMPTY_STORE, MemoryTensorStore, Tensor, describe
from tfdbg_cli.model.values import Lack, NoValue


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(sample_run.run_end())


def names(prompt: Prompt, command: str) -> list[str]:
    return [tensor["name"] for tensor in prompt.data(command)["tensors"]]


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("lt", "lt"),
        ("lt_filter", "lt -f has_inf_or_nan"),
        ("lt_stats", "lt --stats -n ^loss"),
        ("lt_empty", "lt -n nothing"),
        ("lt_sorted", "lt -s dump_size -r --shape '4,*'"),
    ],
)
def test_screens(prompt: Prompt, name: str, command: str) -> None:
    check_golden(f"commands/{name}", prompt.show(command))


def test_the_first_line_counts(prompt: Prompt) -> None:
    assert prompt.show("lt").startswith("20 dumped tensor(s) of 20\n")
    assert prompt.show("lt -f has_inf_or_nan").startswith(
        '5 dumped tensor(s) passing filter "has_inf_or_nan" of 20\n'
    )


def test_regexes_search_anywhere(prompt: Prompt) -> None:
    """TensorFlow's tfdbg: anchored regex (`lt -n og` did not find `Log`)."""
    assert names(prompt, "lt -n og") == ["loss/Log:0"]
    assert names(prompt, "lt -t tMu") == ["dense/MatMul:0"]
    assert names(prompt, "lt -n ^og") == []


def test_filters_combine(prompt: Prompt) -> None:
    assert names(prompt, "lt -f has_inf_or_nan -fenn 'loss|half'") == ["spectrum:0"]
    assert names(prompt, "lt -f has_inf_or_nan --dtype bfloat") == ["half/Cast:0"]
    assert names(prompt, "lt --device CPU:1") == ["grad/unique:0", "grad/unique:1"]
    assert names(prompt, "lt --dtype int -n unique") == ["grad/unique:1"]


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ("4,3", ["x:0"]),
        ("[4,3]", ["x:0"]),
        ("3,?", ["w:0", "w/read:0"]),
        ("*,100", ["big:0"]),
        ("[]", ["step/while/Add:0"] * 3 + ["loss/Mean:0"]),
        ("50,*,100", ["big:0"]),
        ("7", []),
    ],
)
def test_shapes_with_wildcards(prompt: Prompt, shape: str, found: list[str]) -> None:
    assert names(prompt, f"lt --shape {shape}") == found


def test_sorting(prompt: Prompt) -> None:
    assert names(prompt, "lt -s dump_size -r")[0] == "big:0"
    assert names(prompt, "lt -s tensor_name")[:2] == ["big:0", "cold:0"]
    assert names(prompt, "lt -r")[0] == "loss/Mean:0"
    assert names(prompt, "lt -s op_type")[0] == "step/while/Add:0"
    shapes = [t["shape"] for t in prompt.data("lt -s shape --dtype float")["tensors"]]
    assert shapes == sorted(shapes, key=lambda s: (-1, []) if s is None else (len(s), s))


def test_heads_sort_and_keep_every_other_flag(prompt: Prompt) -> None:
    """TensorFlow's tfdbg: column-sort drops `-fenn`."""
    link = prompt.link("lt -f has_inf_or_nan -fenn grad -n o --stats", "Shape")
    for flag in ("-f has_inf_or_nan", "-fenn grad", "-n o", "--stats", "-s shape"):
        assert flag in link
    again = prompt.link(link, "Shape")
    assert again == link.replace("-s shape", "-s shape -r")
    assert prompt.link(again, "Shape") == link
    shapes = [[t["shape"] for t in prompt.data(command)["tensors"]] for command in (link, again)]
    assert shapes[1] == shapes[0][::-1] and len(shapes[0]) > 2


def test_the_sorted_column_says_so_without_colour(prompt: Prompt) -> None:
    assert "Size▲" in prompt.show("lt -s dump_size") and "Size▼" in prompt.show("lt -s dump_size -r")


def test_rows_lead_to_values_and_the_links_work(prompt: Prompt) -> None:
    links = [link for link in prompt.links("lt") if link.startswith("pt")]
    assert "pt loss/Log:0" in links and "pt step/while/Add:0 -n 1" in links
    for link in links:
        assert prompt.document(link).kind == "tensor"


def test_executions_have_a_column_where_a_listed_tensor_has_several(prompt: Prompt) -> None:
    assert "Exec" in prompt.show("lt")
    assert "Exec" in prompt.show("lt -n while/Add")
    assert "Exec" not in prompt.show("lt -n ^x$")


@pytest.mark.parametrize("turns", [1, 2])
def test_of_a_long_list_the_nodes_tell_whether_there_are_executions(turns: int) -> None:
    one = np.ones(1, np.float32)
    made = [("step", turn) for turn in range(turns)] + [(f"n{number}", 0) for number in range(300)]
    tensors = [
        describe(TensorName(node, 0), one, device="", op_type="Add", dtype="float32", execution=execution)
        for node, execution in made
    ]
    run = replace(sample_run.run_end().run, tensors=MemoryTensorStore(tensors, [one] * len(tensors)))
    assert ("Exec" in Prompt(replace(sample_run.run_end(), run=run)).show("lt")) is (turns > 1)


def test_sizes_are_those_of_the_values(prompt: Prompt) -> None:
    """TensorFlow's tfdbg: dump size ≠ tensor size."""
    (tensor,) = prompt.data("lt -n ^x$")["tensors"]
    assert tensor["nbytes"] == 4 * 3 * 4


def test_json_fields(prompt: Prompt) -> None:
    data = prompt.data("lt -n Log")
    assert data["kind"] == "tensors"
    assert data["tensors"] == [
        {
            "name": "loss/Log:0",
            "node": "loss/Log",
            "slot": 0,
            "device": sample_run.CPU0,
            "op_type": "Log",
            "dtype": "float32",
            "shape": [4, 2],
            "nbytes": 32,
            "execution": 0,
            "t_ms": 2.75,
            "role": "forward",
        }
    ]
    summary = prompt.data("lt -n Log --stats")["tensors"][0]["summary"]
    assert set(summary) == {"size", "nan", "neg_inf", "pos_inf", "neg", "zero", "pos", "min", "max", "mean", "std"}
    assert summary["neg_inf"] == 2
    assert "summary" in prompt.data("lt -f has_inf_or_nan")["tensors"][0]


def test_bfloat16_is_seen() -> None:
    """TensorFlow's tfdbg: bfloat16/fp8 NaN unseen."""
    assert "half/Cast:0" in names(Prompt(sample_run.run_end()), "lt -f has_inf_or_nan")


def test_a_filter_of_the_user_sees_a_datum() -> None:
    seen = []

    def large(datum: object, tensor: object) -> bool:
        seen.append((datum.node_name, datum.output_slot, datum.tensor_name))  # type: ignore[attr-defined]
        return isinstance(tensor, np.ndarray) and tensor.size > 100

    prompt = Prompt(sample_run.run_end(), {"large": large})
    assert names(prompt, "lt -f large") == ["big:0"]
    assert len(seen) == 20
    prompt.show("lt -f large -s dump_size")
    assert len(seen) == 20, "sorting asks no filter again"


def test_a_filter_that_raises_is_told_of() -> None:
    def broken(datum: object, tensor: object) -> bool:
        return len(tensor) > 3 or tensor.size > 0  # type: ignore[arg-type,attr-defined]

    prompt = Prompt(sample_run.run_end(), {"broken": broken})
    shown = prompt.show("lt -f broken", 200)
    assert "broken raised TypeError on 6 tensors (first: cold:0" in shown
    assert prompt.data("lt -f broken")["raised"]["count"] == 6
    assert "x:0" in names(prompt, "lt -f broken")


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        ("lt -n '['", "not a regular expression"),
        ("lt -f nope", "no filter 'nope'"),
        ("lt -fenn x", "-fenn narrows a filter"),
        ("lt --shape 3,x", "Cannot read the shape"),
        ("lt -s age", "invalid choice"),
        ("lt stray", "unrecognized arguments"),
    ],
)
def test_mistakes(prompt: Prompt, command: str, cause: str) -> None:
    error = prompt.error(command)
    assert cause in error.message and error.hint and error.exit_code == 1


def test_an_empty_list_says_why() -> None:
    """tensorflow#41573: an empty list that does not say why."""
    prompt = Prompt(sample_run.run_end())
    assert "No node name matches nothing" in prompt.show("lt -n nothing")
    assert "1 node of the runtime graph matches init, but no value was captured" in prompt.show("lt -n init")
    assert "passes has_inf_or_nan" in prompt.show("lt -f has_inf_or_nan -n ^x$")
    assert "No tensor here is what the flags ask for." in prompt.show("lt --shape [7,7,7]")
    assert "No op of this run is known to update a variable." in prompt.show("lt --role update")
    assert "No tensor of this run is known to be a gradient." in prompt.show("lt --role gradient")
    python = Graph([Node("folded", "Const", "")], GraphKind.PYTHON)
    run = sample_run.sample_run(python_graph=python)
    assert "folded, fused or pruned" in Prompt(RunEnd(run)).show("lt -n folded")
    nothing = sample_run.sample_run(tensors=EMPTY_STORE)
    assert "No tensor was captured" in Prompt(RunEnd(nothing)).show("lt")
    consts = replace(nothing, graph=Graph([Node("c", "Const", "")]))
    assert "constant folding" in Prompt(RunEnd(consts)).show("lt")
    failed = replace(nothing, error=RunError("E", "m"))
    assert "error_info" in Prompt(RunEnd(failed)).show("lt")
    assert "timed, not captured" in Prompt(RunEnd(replace(nothing, profile=Profile(())))).show("lt")


def test_the_graph_that_is_shown_is_not_recommended() -> None:
    """A blind test: `run --graph python` was named to whom it had been shown to."""
    told = "captures the graph as the program built it"
    for kind in GraphKind:
        run = sample_run.sample_run(graph=Graph([Node("lost", "MatMul", "")], kind))
        shown = Prompt(RunEnd(run)).show("lt -n lost", 100)
        assert "1 node of the" in shown and (told in shown) is (kind is GraphKind.RUNTIME)


def test_before_a_run_it_says_so() -> None:
    assert "has not happened yet" in Prompt(sample_run.run_start()).error("lt").message


def test_without_times_the_order_stands_in() -> None:
    tensors = [replace(sample_run.store()[i], time_us=None) for i in range(3)]
    store = MemoryTensorStore(tensors, [np.zeros(1)] * 3)
    prompt = Prompt(RunEnd(sample_run.sample_run(tensors=store)))
    assert prompt.show("lt").split("\n")[2].split()[0] == "#▲"
    assert prompt.data("lt")["tensors"][0]["t_ms"] is None


class CountingStore:
    """Very many tensors that count how many of them are looked at."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.looked: set[int] = set()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Tensor:
        if not 0 <= index < self.count:
            raise IndexError(index)
        self.looked.add(index)
        return Tensor(TensorName(f"n{index}", 0), "/device:CPU:0", 0, "float32", (2,), 8, index, "Op")

    def value(self, index: int) -> np.ndarray:
        raise AssertionError("no value is needed for a list")

    def named(self, node: str, slot: int | None = None) -> list[int]:
        return [int(node[1:])]

    def nodes(self) -> list[str]:
        return [f"n{i}" for i in range(self.count)]


def test_very_many_rows_cost_only_those_shown() -> None:
    store = CountingStore(200_000)
    prompt = Prompt(RunEnd(sample_run.sample_run(tensors=store, graph=Graph())))
    lines = prompt.document("lt").lines(80)
    assert len(lines) == 200_003
    assert "n199999:0" in lines[-1].text
    assert len(store.looked) < 1000
    store.looked.clear()
    assert len(prompt.document("lt -n 99999").lines(80)) < 100
    assert len(store.looked) < 500


def test_names_are_data_not_terminal_codes() -> None:
    tensor = Tensor(TensorName("evil\x1b[2J>x", 0), "", 0, "float32", (), 4, 0, "Op\x07")
    store = MemoryTensorStore([tensor], [np.float32(1)])  # type: ignore[list-item]
    prompt = Prompt(RunEnd(sample_run.sample_run(tensors=store, graph=Graph())))
    assert "\x1b" not in prompt.show("lt") and "\x07" not in prompt.show("lt")
    (link,) = [link for link in prompt.links("lt") if link.startswith("pt")]
    assert prompt.data(link)["node"] == "evil\x1b[2J>x"


def test_a_filter_says_what_it_could_not_see() -> None:
    """A recording whose files are gone looked healthy."""
    run = sample_run.sample_run()
    lost = NoValue(Lack.DAMAGED, "The file is gone.")
    values = [run.tensors.value(i) if i else lost for i in range(len(run.tensors))]
    store = MemoryTensorStore([run.tensors[i] for i in range(len(values))], values)
    prompt = Prompt(RunEnd(replace(run, tensors=store)))
    assert "1 tensor could not be read" in prompt.show("lt -f has_inf_or_nan")
    assert "1 tensor could not be read" in prompt.show("lt -f has_inf_or_nan")  # from memory as well
    assert prompt.data("lt -f has_inf_or_nan")["unread"] == 1
    assert "could not be read" not in prompt.show("lt")
    assert "could not be read" not in Prompt(sample_run.run_end()).show("lt -f has_inf_or_nan")


def test_a_filter_on_one_device(prompt: Prompt) -> None:
    """TensorFlow's tfdbg: `find(device_name=…)` and `watch_key_to_data(device_name=…)` raised."""
    assert names(prompt, "lt --device CPU:1 -f has_inf_or_nan") == []
    assert "loss/Log:0" in names(prompt, "lt --device CPU:0 -f has_inf_or_nan")


def test_a_filter_by_magnitude_says_that_it_passes_over_integers() -> None:
    """A blind test: integers beyond the limit did not pass, without a word."""
    prompt = Prompt(
        made_run(op("x", "Placeholder", value=np.array([5, -7])), op("y", "Cast", "x", value=[5.0, -7.0]))
    )
    shown = prompt.show("lt -f magnitude_above:6.5")
    assert "y:0" in shown and "x:0" not in shown and "integers" not in shown
    shown = prompt.show("lt -f magnitude_above:10")
    assert "Float and complex tensors were asked; lt -q 'absmax>10' asks integers, too." in shown
    assert "x:0" in prompt.show("lt -q 'absmax>6.5'")
    assert "lt -s worst lists integers, too." in prompt.show("lt -f near_overflow")
