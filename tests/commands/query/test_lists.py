"""Queries in `lt`, `ll` and `runs`: on the screen, in JSON, beside the other flags, in a list of any length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import sample_run
from support.prompt import Prompt
from support.work import counted_calls

from tfdbg_cli.analysis.graph.nodes.roles import roles_of
from tfdbg_cli.commands.query.language import QueryError
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(sample_run.run_end())


def names(prompt: Prompt, command: str) -> list[str]:
    return [tensor["name"] for tensor in prompt.data(command)["tensors"]]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("loss", ["loss/Log:0", "loss/mul:0", "loss/Mean:0"]),
        ("LOSS", []),
        ("log", ["loss/Log:0"]),
        ("^loss m", ["loss/mul:0", "loss/Mean:0"]),
        ("unique:1", ["grad/unique:1"]),
        ("op=relu", ["prob:0"]),
        ("op~^Un slot or unique", ["grad/unique:0", "grad/unique:1"]),
        ("dtype=bfloat16", ["half/Cast:0"]),
        ("dtype~int", ["step/while/Add:0"] * 3 + ["grad/unique:1"]),
        ("shape=[4,2] loss", ["loss/Log:0", "loss/mul:0"]),
        ("shape=[50,*]", ["big:0"]),
        ("size>=5k", ["big:0"]),
        ("size>=19kB", ["big:0"]),
        ("device=CPU:1", ["grad/unique:0", "grad/unique:1"]),
        ("device!=CPU:1 unique", []),
        ("exec>1", ["step/while/Add:0"]),
        ("rank=0 loss", ["loss/Mean:0"]),
        ("nan>0 dtype=float32", ["loss/mul:0", "loss/Mean:0"]),
        ("inf>0 not dtype=bfloat16", ["loss/Log:0", "loss/mul:0"]),
        ("absmax>8 absmax<10 dtype=float32", ["x:0", "grad/unique:0"]),
        ("layer=loss", ["loss/Log:0", "loss/mul:0", "loss/Mean:0"]),
        ("layer~^lo", ["loss/Log:0", "loss/mul:0", "loss/Mean:0"]),
        ("run=3 prob", ["prob:0"]),
        ("run=4", []),
    ],
)
def test_what_a_query_admits(prompt: Prompt, query: str, found: list[str]) -> None:
    assert names(prompt, f"lt -q '{query}'") == found


def test_it_goes_with_every_other_flag(prompt: Prompt) -> None:
    assert names(prompt, "lt -q loss -n M") == ["loss/Mean:0"]
    assert names(prompt, "lt -q loss -f has_nan") == ["loss/mul:0", "loss/Mean:0"]
    assert names(prompt, "lt -q loss -s tensor_name -r") == ["loss/mul:0", "loss/Mean:0", "loss/Log:0"]
    link = prompt.link("lt -q 'loss nan>0'", "Shape")
    assert "-q 'loss nan>0'" in link and "-s shape" in link


def test_the_screen_says_how_it_was_understood_and_how_many_are_left(prompt: Prompt) -> None:
    shown = prompt.show("lt -q 'loss nan>0'")
    assert "filter loss and nan>0: 2 of 20 rows  show all" in shown
    assert prompt.link("lt -q 'loss nan>0' -s shape", "show all") == "lt -s shape"
    assert prompt.document("lt -q loss").title == "tensors[loss]: 3 of 20"
    assert "No tensor here is what the query asks for." in prompt.show("lt -q nothing")
    assert "query" not in prompt.data("lt") and prompt.data("lt -q loss")["query"] == "loss"


def test_errors_show_their_place(prompt: Prompt) -> None:
    error = prompt.error("lt -q 'loss nam>0'")
    assert isinstance(error, QueryError) and error.at == 5
    assert "column 6: there is no fact 'nam'" in error.message and "nan" in error.hint
    assert prompt.error("lt -q 'layer=nowhere'").message.startswith("The query, column 7: There is no layer")
    assert prompt.error("lt -q tensors>3").message == "The query, column 1: a tensor has no tensors."
    assert prompt.error("runs -q dtype=int32").message == "The query, column 1: a run has no dtype."
    assert prompt.error("ll -q nan>0").message == "The query, column 1: a layer has no nan."


def test_a_comparison_behind_the_flag_writes_no_file(prompt: Prompt, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert names(prompt, "lt -q size>1k") == ["big:0"]
    assert names(prompt, "lt -q=size>1k") == ["big:0"]
    assert list(tmp_path.iterdir()) == []


def test_layers(prompt: Prompt) -> None:
    def layers(command: str) -> list[str]:
        return [layer["name"] for layer in prompt.data(command)["layers"]]

    assert layers("ll -q loss") == ["loss"]
    assert layers("ll -q bad>0") == layers("ll --stats -q bad>0")
    assert "loss" in layers("ll -q 'bad>0 tensors>2'")
    assert "1 of" in prompt.show("ll -q loss")


def test_runs() -> None:
    prompt = Prompt(sample_run.opened())
    every = prompt.data("runs")["runs"]
    assert prompt.data("runs -q tensors>=0")["runs"] == every
    assert prompt.data("runs -q tensors<0")["runs"] == []
    assert prompt.error("runs 1 -q x").hint == "Write: runs -q QUERY"


class Counting(MemoryTensorStore):
    """Notes whose values are looked at."""

    def __init__(self, tensors, values) -> None:
        super().__init__(tensors, values)
        self.read: set[int] = set()

    def value(self, index):
        self.read.add(index)
        return super().value(index)


def test_values_are_counted_only_where_nothing_cheaper_decides() -> None:
    def asked(query: str, flags: str = "") -> int:
        run = sample_run.sample_run()
        store = Counting(
            [run.tensors[i] for i in range(len(run.tensors))],
            [run.tensors.value(i) for i in range(len(run.tensors))],
        )
        Prompt(RunEnd(sample_run.sample_run(tensors=store))).data(f"lt -q '{query}' {flags}")
        return len(store.read)

    assert asked("loss") == 0
    assert asked("loss nan>0") == 3
    assert asked("nan>0", "-n ^loss") == 3
    assert asked("loss or (nan>0 and prob)") == 1
    assert asked("(nan>0 and loss) or (max>1 or op=Log or loss)") == 17  # of all but the three of the loss


class Many(MemoryTensorStore):
    """A hundred thousand tensors without values."""

    def __init__(self) -> None:
        def tensor(i: int) -> Tensor:
            name = TensorName(f"model/layer_{i % 97}/block_{i}/MatMul", 0)
            return Tensor(name, "/device:CPU:0", 0, "float32", (i % 7, 128), 512 * (i % 7), i, "MatMul")

        tensors = [tensor(i) for i in range(100_000)]
        super().__init__(tensors, [np.float32(1)] * len(tensors))


@pytest.mark.parametrize("query", ["layer_13/", "block_.*77/", "not layer_1", "layer_13/ shape=[3,*]"])
def test_a_row_of_many_is_asked_little(query: str) -> None:
    store = _MANY.setdefault(0, Many())
    graph = Graph()
    roles_of(graph)
    prompt = Prompt(RunEnd(sample_run.sample_run(tensors=store, graph=graph)))
    with counted_calls() as work:
        document = prompt.document(f"lt -q '{query}'")
    assert len(document.lines(80)) > 100
    assert work.calls < 8 * len(store), "each name, and each fact of it, is asked once"


_MANY: dict[int, Many] = {}


OTHER_LISTS = {
    "li -r loss/Mean -q 'op=Log or nan>0'": ("nodes", "name", ["loss/mul", "loss/Log"]),
    "li loss/Mean -q loss": ("nodes", "name", ["loss/mul", "loss/Const"]),
    "lo -r x -q 'layer=loss tensors>0 not loss/Me'": ("nodes", "name", ["loss/Log", "loss/mul"]),
    "lo -r x -q 'zero>0 op=Relu'": ("nodes", "name", ["prob"]),
    "history x -q 'run=3 zero>10%'": ("points", "run", [3]),
    "history x -q '#4'": ("points", "run", []),
    "placement -q 'size<1kB tensors>1'": ("devices", "device", [sample_run.CPU1]),
    "placement -q device=CPU:0": ("devices", "device", [sample_run.CPU0]),
    "filters -q name~grad": ("filters", "name", ["vanishing_gradient", "exploding_gradient"]),
    "filters -q 'applied gradient'": ("filters", "name", ["bad_result"]),
    "find loss -q 'kind=tensor op=Log'": ("hits", "name", ["loss/Log:0"]),
    "fq op -q loss": ("values", "value", ["Log", "Mul", "Mean"]),
}


@pytest.mark.parametrize("command", OTHER_LISTS)
def test_every_other_list_is_asked_the_same_way(prompt: Prompt, command: str) -> None:
    rows, key, found = OTHER_LISTS[command]
    answer = prompt.data(command)
    assert [row[key] for row in answer[rows]] == found
    assert answer["query"] == command.split(" -q ")[1].strip("'")
    assert " rows  show all" in prompt.show(command)
    everything = prompt.data(prompt.link(command, "show all"))
    assert not everything.get("query") and len(everything[rows]) >= len(found)


def test_what_a_list_does_not_know_is_said_with_its_place(prompt: Prompt) -> None:
    assert prompt.error("li loss/Mean -q 'loss dtype=int32'").message == "The query, column 6: a node has no dtype."
    assert prompt.error("history x -q size>3").message == "The query, column 1: a run of a tensor has no size."
    assert prompt.error("filters -q nan>0").message == "The query, column 1: a filter has no nan."
    assert prompt.error("lt -q kind=op").message == "The query, column 1: a tensor has no kind."


def test_a_number_in_a_word_is_no_place_of_a_row() -> None:
    """Runs are asked for their titles; where they stand in the list is no part of those."""
    prompt = Prompt(sample_run.opened())
    assert prompt.data("runs -q ^1$")["runs"] == []


def test_an_outline_is_asked_before_the_run_too() -> None:
    prompt = Prompt(sample_run.run_start())
    assert [node["name"] for node in prompt.data("li -r loss/Mean -q op=Log")["nodes"]] == ["loss/Log"]
    assert prompt.data("li -r loss/Mean -q nan>0")["nodes"] == []


def test_integers_are_compared_by_all_their_digits() -> None:
    """A blind test: 2**53 + 1 found 2**53, since a float64 holds only that."""
    values = [np.array(2**53 + more) for more in (0, 1, 2)] + [np.array(2**64 - 1, np.uint64)]
    shown = [
        describe(TensorName(f"n{place}", 0), value, device="", op_type="Const", dtype=value.dtype.name)
        for place, value in enumerate(values)
    ]
    end = sample_run.run_end()
    prompt = Prompt(replace(end, run=replace(end.run, tensors=MemoryTensorStore(shown, values))))
    assert names(prompt, f"lt -q max={2**53 + 1}") == ["n1:0"]
    assert names(prompt, f"lt -q max>{2**53 + 1}") == ["n2:0", "n3:0"]
    assert names(prompt, f"lt -q min=+{2**64 - 1}") == ["n3:0"]
    assert names(prompt, "lt -q absmax>1" + "0" * 400) == []
