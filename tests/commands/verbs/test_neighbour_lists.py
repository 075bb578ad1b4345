"""`list_inputs` and `list_outputs`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import sample_run, sample_step
from support.golden import check_golden
from support.made_run import made_run, op
from support.plain_text import plain
from support.prompt import Prompt, ask, follow_all, json_of, links_of, text_of

from tfdbg_cli.analysis.graph.ways.walk import walk
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.verbs import neighbour_lists
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore, describe


def test_screens() -> None:
    run = sample_run.sample_run()
    check_golden("commands/li", text_of("li loss/mul", run))
    check_golden("commands/li_recursive", text_of("li -r -c -t loss/Mean", run))
    check_golden("commands/lo_recursive", text_of("lo -r -t -d 3 x", run))


def test_one_edge_without_r() -> None:
    assert [n["name"] for n in json_of("li loss/mul", sample_run.sample_run())["nodes"]] == ["y", "loss/Log"]


def test_defect_dag_printed_as_an_exponential_tree() -> None:
    """TensorFlow's tfdbg: each node is printed in full once, however many ways lead to it."""
    ops = [op("a0", "Add"), op("b0", "Add")]
    for i in range(1, 60):
        ops += [op(f"{side}{i}", "Add", f"a{i - 1}", f"b{i - 1}") for side in "ab"]
    run = made_run(*ops)
    nodes = json_of("li -r -d 100 a59", run)["nodes"]
    full = [n["name"] for n in nodes if not n["repeated"]]
    assert len(full) == len(set(full)) == 118 and len(nodes) < 4 * 60
    assert "↑" in text_of("li -r -d 100 a59", run)


def test_the_depth_comes_from_the_settings() -> None:
    chain = made_run(op("n0", "Const"), *(op(f"n{i}", "Neg", f"n{i - 1}") for i in range(1, 40)))
    assert "n19 …" in text_of("li -r n39", chain) and "n18" not in text_of("li -r n39", chain)
    context = Context(RunEnd(chain), Settings(graph_recursion_depth=2))
    found = execute("li -r n39", context, standard_registry())
    assert isinstance(found, Document) and "n37 …" in plain(found.lines(80))


def test_a_cut_leads_deeper() -> None:
    chain = made_run(op("n0", "Const"), *(op(f"n{i}", "Neg", f"n{i - 1}") for i in range(1, 9)))
    assert links_of("li -c -r -d 2 n8", chain)["…"] == "li -c -r -d 4 n8"


def test_only_signs_that_occur_are_in_the_legend() -> None:
    text = text_of("lo -r x", sample_run.sample_run())
    assert "(d)" in text and "(Ctrl)" not in text and "[Op]" not in text and "↑" not in text


@pytest.mark.parametrize("command", ["li -r -c -t loss/Mean", "lo -r x", "li -r step/while/Add"])
def test_every_link_leads_somewhere(command: str) -> None:
    assert follow_all(command, sample_run.sample_run()) > 0


def test_no_neighbours() -> None:
    assert "none" in text_of("li x", sample_run.sample_run())


def test_a_depth_below_one_is_refused() -> None:
    with pytest.raises(TfdbgError, match="counts edges from 1"):
        ask("li -r -d 0 x", sample_run.sample_run())


def test_before_a_run() -> None:
    assert "prob" in text_of("li -r loss/Log", sample_run.run_start())


def test_across_functions_names_beside_the_node_are_short() -> None:
    run = sample_step.step_run()
    check_golden("commands/li_nested", text_of("li -r -t loss/Log", run))
    check_golden("commands/lo_nested", text_of("lo -r x", run))
    nodes = [n["name"] for n in json_of("li -r loss/Log", run)["nodes"]]
    assert "x" in nodes and f"{sample_step.BODY}/cell/Mul" in nodes, "from a value inside to the argument that fed it"
    assert follow_all("li -r loss/Log", run)


def test_a_query_that_is_typed_walks_no_graph_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[str] = []

    def noted(graph: Graph, node: Node, *rest: Any, **options: Any) -> Any:
        walked.append(node.name)
        return walk(graph, node, *rest, **options)

    monkeypatch.setattr(neighbour_lists, "walk", noted)
    prompt = Prompt(sample_run.run_end())
    every = prompt.data("li -r loss/Mean")["nodes"]
    for query in ("l", "lo", "loss", "nan>0"):
        assert len(prompt.data(f"li -r loss/Mean -q '{query}'")["nodes"]) < len(every)
    assert walked == ["loss/Mean"]
    assert prompt.data("li -r loss/mul -q loss")["nodes"] != prompt.data("lo -r loss/mul -q loss")["nodes"]
    assert walked == ["loss/Mean", "loss/mul", "loss/mul"]


def test_behind_a_node_stands_what_it_gave() -> None:
    run = made_run(
        op("turned", "Mul", values=[[1.0, 2.0]] * 3), op("gone", "Neg", "turned"), op("end", "Sum", "turned", "gone")
    )
    rows = text_of("li end", run).splitlines()
    assert "(1) turned  float32[2] ×3" in rows
    assert "(1) gone …" in rows, "nothing was captured of it"
    split = text_of("lo -r unique_input", _with_two_outputs()).splitlines()
    assert "(1) unique  2 tensors" in split


def _with_two_outputs() -> Run:
    run = made_run(op("unique_input", "Const", value=[1.0]), op("unique", "Unique", "unique_input", value=[1.0]))
    store = run.tensors
    index = np.zeros(1, np.int32)
    second = describe(TensorName("unique", 1), index, device="", op_type="Unique", dtype="int32")
    rows, values = [store[i] for i in range(len(store))], [store.value(i) for i in range(len(store))]
    return replace(run, tensors=MemoryTensorStore([*rows, second], [*values, index]))


def test_a_long_name_keeps_its_end_and_what_stands_behind_it() -> None:
    """A blind test: the op's own name and the count of NaN behind it were out of sight at 80 columns."""
    scope = "gradient_tape/compile_loss/sparse_categorical_crossentropy/SparseSoftmaxCrossEntropyWithLogits"
    log = op(f"{scope}/div_no_nan", "DivNoNan", "x", value=float("nan"))
    run = made_run(op("x", "Const", value=0.0), log, op("end", "Add", "x", f"{scope}/div_no_nan", value=1.0))
    for command in ("li end", "li -r end", "ni end", "lo x"):
        prompt = Prompt(run)
        lines = [row for row in prompt.document(command).lines(60) if "div_no_nan" in row.text]
        assert lines and all(len(row.text) <= 60 for row in lines), command
        assert scope not in lines[0].text and f"{scope}/div_no_nan" in prompt.show(command, None)
        (name,) = (span for span in lines[0].spans if "div_no_nan" in span.text)
        assert name.link.endswith(f"{scope}/div_no_nan") and name.text.startswith("…") and "/div_no_nan" in name.text
        assert "float32[]" in lines[0].text
