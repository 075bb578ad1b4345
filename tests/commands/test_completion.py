"""Completion: what Tab offers at each place of a command."""

from __future__ import annotations

import pytest
from support import sample_run
from support.work import counted_calls

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.completion import Completions, complete
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import LIVE, WITH_TENSORS, Argument, ArgumentKind, Command, Registry
from tfdbg_cli.document.document import text_document
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import RunEnd, RunStart
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor


def _command(name: str, aliases: tuple[str, ...], *arguments: Argument, **more) -> Command:
    return Command(name, aliases, "", lambda context, options: text_document(name), arguments, **more)


def _registry() -> Registry:
    registry = Registry()
    registry.add(
        _command(
            "list_tensors", ("lt",),
            Argument(("-f", "--tensor_filter"), "", ArgumentKind.FILTER),
            Argument(("-s", "--sort_by"), "", choices=("timestamp", "dump_size")),
            Argument(("-t", "--op_type_filter"), "", ArgumentKind.OP_TYPE),
            Argument(("--dtype",), "", ArgumentKind.DTYPE),
            Argument(("--device",), "", ArgumentKind.DEVICE),
            Argument(("-r", "--reverse"), "", switch=True),
            moments=WITH_TENSORS,
        )
    )  # fmt: skip
    path = Argument(("-w", "--write_path"), "", ArgumentKind.PATH)
    registry.add(_command("print_tensor", ("pt",), Argument(("tensor",), "", ArgumentKind.TENSOR), path))
    registry.add(_command("node_info", ("ni",), Argument(("node",), "", ArgumentKind.NODE)))
    registry.add(_command("print_feed", ("pf",), Argument(("feed",), "", ArgumentKind.FEED)))
    registry.add(_command("print_source", ("ps",), Argument(("file",), "", ArgumentKind.SOURCE)))
    registry.add(_command("eval", ("ev",), Argument(("expression",), "")))
    registry.add(_command("run", ("r",), Argument(("-n", "--no_debug"), "", switch=True), moments=LIVE))
    registry.add(_command("help", ("h",), Argument(("command",), "", ArgumentKind.COMMAND, nargs="?")))
    registry.add(_command("config", ("cfg",), Argument(("action",), "", choices=("set", "show")),
                          Argument(("name",), "", ArgumentKind.SETTING, nargs="?"),
                          Argument(("value",), "", ArgumentKind.SETTING_VALUE, nargs="?")))  # fmt: skip
    return registry


REGISTRY = _registry()


def _complete(text: str, event=None) -> Completions:
    return complete(text, Context(event or sample_run.run_end()), REGISTRY)


def _offered(text: str, event=None) -> tuple[str, ...]:
    return _complete(text, event).candidates


def test_commands_and_aliases_are_offered_for_the_first_word() -> None:
    assert _offered("li") == ("list_tensors",)
    assert _offered("p") == ("pf", "print_feed", "print_source", "print_tensor", "ps", "pt")
    assert _complete("pri").common == "print_"


def test_only_commands_of_this_moment_are_offered() -> None:
    assert "lt" not in _offered("", sample_run.run_start())
    assert "run" not in _offered("", sample_run.opened())
    assert {"lt", "run"} <= set(_offered("", sample_run.run_end()))


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("lt --", 3, ("--device", "--dtype", "--op_type_filter", "--reverse", "--sort_by", "--tensor_filter")),
        ("lt -r --re", 6, ()),
        ("lt -s d", 6, ("dump_size",)),
        ("lt --sort_by=t", 13, ("timestamp",)),
        ("lt -f has_i", 6, ("has_inf", "has_inf_or_nan")),
        ("lt -f magnitude_above:", 6, ("magnitude_above:10000",)),
        ("lt -t MatM", 6, ("MatMul",)),
        ("lt --dtype bf", 11, ("bfloat16",)),
        ("pf ", 3, ("x:0", "y:0")),
        ("ni dense/", 3, ("dense/MatMul",)),
        ("ni -d ", 6, None),
        ("ps /home", 3, ("/home/ada/train.py",)),
        ("ps train.py", 3, ("/home/ada/train.py",)),
        ("help li", 5, ("list_tensors",)),
        ("config s", 7, ("set", "show")),
        ("config set gra", 11, ("graph", "graph_recursion_depth")),
        ("config set theme li", 17, ("light",)),
        ("config set mouse_mode ", 22, ("on", "off")),
        ("config set precision ", 21, ()),
        ("config set keys.a ", 18, ()),
        ("nonsense a", 10, ()),
        ("/los", 4, ()),
        ("@[1", 3, ()),
    ],
)
def test_words_are_completed_by_what_they_name(text: str, start: int, expected) -> None:
    found = _complete(text)
    assert found.start == start
    if expected is not None:
        assert found.candidates == expected


def test_devices_are_offered() -> None:
    assert _offered("lt --device /job") == (sample_run.CPU0, sample_run.CPU1)


def test_tensors_come_with_their_slots() -> None:
    assert _offered("pt loss/Lo") == ("loss/Log:0",)
    assert _offered("pt grad/unique") == ("grad/unique:0", "grad/unique:1")
    assert _offered("pt grad/unique:1") == ("grad/unique:1",)
    assert _offered("pt step/while/Add:") == ("step/while/Add:0",)  # three executions, one name


def test_without_a_name_that_begins_so_names_that_hold_it_are_offered() -> None:
    found = _complete("pt MatMul")
    assert found.candidates == ("dense/MatMul:0",)
    assert found.common == "dense/MatMul:0"
    several = _complete("ni mUl")
    assert several.candidates == ("dense/MatMul", "loss/mul")
    assert several.common == "mUl"  # what was typed stays as it is


def test_what_was_typed_is_not_lost_where_several_tensors_hold_it() -> None:
    """Their common beginning took its place: `pt truediv` became `pt one_step_on_data/`, which all tensors fit."""
    nodes = [Node(f"one_step/{name}", "RealDiv", "") for name in ("loss/truediv", "truediv", "sub")]
    tensors = [Tensor(TensorName(n.name, 0), "", 0, "float32", (1,), 4, None, "RealDiv") for n in nodes]
    event = RunEnd(sample_run.sample_run(graph=Graph(nodes), tensors=MemoryTensorStore(tensors, [None] * 3)))
    found = _complete("pt truediv", event)
    assert found.candidates == ("one_step/loss/truediv:0", "one_step/truediv:0")
    assert found.common == "truediv"
    assert _complete("pt step/", event).common == "one_step/", "nothing is lost by what is longer"
    assert _complete("pt nique").common == "grad/unique:"


def test_a_slice_is_not_completed() -> None:
    assert _offered("pt loss/Log:0[") == ()
    assert _offered("pt loss/Log:0[0, ") == ()


def test_tensors_complete_inside_backticks_of_eval() -> None:
    found = _complete("ev np.sum(`loss/L")
    assert (found.start, found.candidates) == (len("ev np.sum(`"), ("loss/Log:0",))
    again = _complete("ev `x:0` + `pr")
    assert again.candidates == ("prob:0",)
    assert _offered("ev `x:0` + pr") == ()


def test_paths_complete_after_a_redirect_and_for_path_arguments(tmp_path, monkeypatch) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "ours.npy").write_bytes(b"")
    (tmp_path / "a b.txt").write_bytes(b"")
    (tmp_path / ".hidden").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _offered("lt > ou") == ("ours.npy", "out/")
    assert _offered("lt >out") == ("out/",)
    assert _offered("lt >|out") == ("out/",)
    assert _offered("lt >| ou") == ("ours.npy", "out/")
    assert _offered("pt x:0 -w ours") == ("ours.npy",)
    assert _offered("pt x:0 -w ~/ou") == ("~/ours.npy", "~/out/")
    assert _offered(f"lt > {tmp_path}/ours") == (f"{tmp_path}/ours.npy",)
    assert _offered("lt > a") == ('"a b.txt"',)
    assert _complete('lt > "a') == Completions(5, ('"a b.txt"',), '"a b.txt"', 1)
    assert _complete("pt 'x") == Completions(3, ("'x:0'",), "'x:0'", 1)
    assert _complete("lt > 'ou").candidates == ("'ours.npy'", "'out/")
    assert _complete("lt > 'ou").common == "'ou"
    assert _offered("lt > .h") == (".hidden",)
    assert _offered("lt > nowhere/x") == ()


def test_a_filter_of_the_user_with_a_blank_in_its_name_is_quoted() -> None:
    filters = {**BUILT_IN_FILTERS, "too big": lambda datum, value: False}
    context = Context(sample_run.run_end(), filters=filters)
    assert complete("lt -f too", context, REGISTRY).candidates == ('"too big"',)


def test_before_a_run_tensor_names_come_from_the_graph() -> None:
    assert "dense/MatMul" in _offered("pt dense", sample_run.run_start())


def _big_run(count: int) -> RunEnd:
    nodes = [Node(f"layer_{i % 100}/block/op_{i}", "Mul", "") for i in range(count)]
    tensors = [Tensor(TensorName(n.name, 0), "", 0, "float32", (1,), 4, None, "Mul") for n in nodes]
    run = sample_run.sample_run(graph=Graph(nodes), tensors=MemoryTensorStore(tensors, [None] * count))
    return RunEnd(run)


def test_a_hundred_thousand_nodes_complete_at_once_and_their_common_part_counts_all() -> None:
    event = _big_run(100_000)
    context = Context(event)
    assert complete("ni ", context, REGISTRY).total == 100_000
    with counted_calls() as work:
        found = complete("ni layer_1", context, REGISTRY)
        exact = complete("pt layer_77/block/op_77", context, REGISTRY)
    with counted_calls() as scan:
        holding = complete("pt block/op_9999", context, REGISTRY)
    assert work.calls < 50_000, "where names begin so is found by halving; a look at each node takes more"
    assert scan.calls < 110_000, "what they hold is asked of each once"
    assert (len(found.candidates), found.total, found.common) == (1000, 11_000, "layer_1")
    assert "layer_77/block/op_77:0" in exact.candidates
    assert holding.total == 11


def test_the_names_of_a_graph_are_forgotten_with_it() -> None:
    import gc
    import weakref

    event = RunStart(Call(1, RunKind.SESSION, ()), Graph([Node("a", "Const", "")]))
    assert _offered("ni ", event) == ("a",)
    graph = weakref.ref(event.graph)
    del event
    gc.collect()
    assert graph() is None
