"""`ri`, `runs` and the command a stop opens with."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import sample_run, sample_step
from support.golden import check_golden
from support.kept_stop import kept
from support.prompt import Prompt

from tfdbg_cli.analysis.watch.filters import has_inf_or_nan
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.model.calls import Call, CallArgument, RunKind
from tfdbg_cli.model.exactness import Exactness, ExecutionWay
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.profile import Profile
from tfdbg_cli.model.runs import Estimate, Hit, Opened, RunEnd, RunStart, Stop
from tfdbg_cli.model.tensors import EMPTY_STORE

LARGE = Estimate(tensors=1000, nbytes=3 << 30, unknown=2, budget=1 << 30, medium="disk")


def test_before_a_run() -> None:
    prompt = Prompt(sample_run.run_start(), {"my filter": lambda datum, tensor: True})
    check_golden("commands/ri_start", prompt.show("ri"))
    links = prompt.links("ri")
    for link in ("pf x:0", "run", "run -f has_inf_or_nan", "run -f 'my filter'", "run -n", "run -t 10", "detach"):
        assert link in links


def test_of_a_run_that_was_sent_only_what_goes_with_it_is_offered() -> None:
    """A blind test: `run -p`, `run -n` and a stop at errors were offered, none of which there is."""
    links = Prompt(replace(sample_run.run_end(), sent=True)).links("ri")
    assert not {"run -p", "run -n"} & set(links)
    assert {"run", "run -t 10", "run -f has_inf_or_nan", "continue", "detach"} <= set(links)


def test_every_link_is_a_command_that_works() -> None:
    sent = replace(sample_run.run_end(), sent=True)
    for stop in (sample_run.run_start(), sample_run.run_end(), sample_run.opened(), sent):
        prompt = Prompt(stop)
        for link in prompt.links("ri"):
            prompt.run(link)


def test_after_a_run() -> None:
    run = sample_run.sample_run(notes=("This is the runtime graph.",))
    check_golden("commands/ri_end", Prompt(RunEnd(run)).show("ri"))


def test_a_run_of_which_nothing_was_taken_tells_no_counts_of_nothing() -> None:
    """Behind an exception that ended the program stood "runtime graph of 0 nodes"."""
    run = replace(
        sample_run.sample_run(),
        tensors=EMPTY_STORE,
        graph=Graph((), GraphKind.RUNTIME),
        lacks="No values were taken.",
    )
    shown = Prompt(RunEnd(run)).show("ri")
    assert "nodes" not in shown and "0 tensors" not in shown
    assert "0 tensors" in Prompt(RunEnd(replace(run, lacks=""))).show("ri")


def test_of_values_that_are_missing_it_is_not_said_where_they_come_from() -> None:
    """A blind test: "the values are of the same run made again", and "could not be made again", in one answer."""
    run = replace(sample_run.sample_run(), exactness=Exactness(ExecutionWay.UNCHANGED))
    assert "ran unchanged; the values are of the same run made again" in Prompt(RunEnd(run)).show("ri")
    lost = Prompt(RunEnd(replace(run, tensors=EMPTY_STORE, lacks="It was not made again.")))
    assert "The program's own call ran unchanged.\n" in lost.show("ri") and "on copies" not in lost.show("ri")
    assert lost.data("ri")["how"] == "The program's own call ran unchanged."


def test_the_estimate_stands_beside_the_budget() -> None:
    stop = replace(sample_run.run_start(), estimate=LARGE)
    shown = Prompt(stop).show("ri", 300)
    assert "about 3 GB (1,000 tensors, 2 more of unknown shape); the budget is 1 GB of disk: too much." in shown
    assert "run --force" in shown
    small = replace(stop, estimate=replace(LARGE, nbytes=1000))
    assert "too much" not in Prompt(small).show("ri", 300)
    assert Prompt(stop).data("ri")["estimate"]["nbytes"] == 3 << 30
    unknown = replace(stop, estimate=replace(LARGE, nbytes=None))
    assert "shapes do not tell" in Prompt(unknown).show("ri", 300)


def test_of_a_loop_one_turn_is_counted_and_it_says_so() -> None:
    stop = sample_run.run_start()
    loop = Graph([Node("x", "Placeholder", ""), Node("while", "StatelessWhile", "", (TensorName("x", 0),))])
    estimate = replace(LARGE, nbytes=1000, budget=10_500, medium="memory")
    text = Prompt(replace(stop, graph=loop, estimate=estimate)).show("ri", 300)
    assert "2 more of unknown shape, of loops one turn; each further one adds as much);" in text
    assert "--keep has room for at most 9 runs." in text


def test_what_a_watch_takes_is_said_before_the_run() -> None:
    stop = sample_run.run_start()
    estimate = replace(LARGE, nbytes=1000, budget=10_500, medium="memory")
    assert "A watch (run -f): --keep has room for 9 runs." in Prompt(replace(stop, estimate=estimate)).show("ri", 300)
    tiny = replace(estimate, nbytes=1, budget=1 << 40)
    assert "--keep has room for as many runs as you like" in Prompt(replace(stop, estimate=tiny)).show("ri", 300)
    arguments = (CallArgument("x", "float32", (8, 4)), CallArgument("v", "float16", (10,), captured=True))
    more = (CallArgument("table", "resource", None), CallArgument("y", "float32", (None, 4)))
    call = replace(stop.call, function="step", arguments=(*arguments, *more))
    text = Prompt(replace(stop, call=call, estimate=replace(estimate, budget=1500))).show("ri", 300)
    assert "A watch (run -f) holds 148 B of arguments and variables of each run to make it again" in text
    assert "--keep has no room for any." in text


def test_names_are_printable() -> None:
    call = Call(1, RunKind.SESSION, ("a\x1b[2J:0",), {"b\x07:0": 1}, ("op\x1b",), "thread\x1b", ("note\x1b",))
    assert "\x1b" not in Prompt(RunStart(call)).show("ri") and "\x07" not in Prompt(RunStart(call)).show("ri")


def test_runs() -> None:
    failed = sample_run.run_failed().run
    prompt = Prompt(Opened("/data/dump", [sample_run.sample_run(), failed], notes=("One file is damaged.",)))
    check_golden("commands/runs", prompt.show("runs"))
    assert [run["error"] for run in prompt.data("runs")["runs"]] == [None, "InvalidArgumentError"]
    assert prompt.document(prompt.link("runs", "1")).kind == "origin"
    assert "InvalidArgumentError" in prompt.show("runs 2")
    assert prompt.context.run is failed
    assert prompt.data("runs")["current"] == 2
    assert "no run 3" in prompt.error("runs 3").message
    assert "--keep N" in Prompt(sample_run.run_end()).show("runs")


def _end(**changes: object) -> RunEnd:
    return RunEnd(sample_run.sample_run(**changes))


@pytest.mark.parametrize(
    ("stop", "command"),
    [
        (sample_run.run_start(), "run_info"),
        (sample_run.run_end(), "lt"),
        (sample_run.run_failed(), "error_info"),
        (sample_run.run_hit(), "origin"),
        (replace(sample_run.run_end(), hit=Hit("has_inf_or_nan", "grad", 3)), "origin -fenn grad"),
        (replace(sample_run.run_end(), hit=Hit("my filter", "a>b", 3)), "lt -f 'my filter' -fenn 'a>b'"),
        (_end(profile=Profile(())), "lp"),
        (sample_run.opened(), "lt"),
        (sample_run.opened(3), "runs"),
        (Opened("/d", []), "runs"),
        (Opened("/d", [sample_run.run_failed().run]), "error_info"),
    ],
)
def test_the_opening_command(stop: Stop, command: str) -> None:
    assert opening_command(stop) == command
    prompt = Prompt(stop, {"my filter": lambda datum, tensor: True})
    assert prompt.document(command).lines(80)


def test_opening_commands_exist() -> None:
    registry = standard_registry()
    for name in ("run_info", "runs", "error_info", "origin", "lt", "lp"):
        assert name in registry


def test_a_function_before_and_after() -> None:
    start, end = Prompt(sample_step.step_start()), Prompt(RunEnd(sample_step.step_run()))
    check_golden("commands/ri_function_start", start.show("ri"))
    check_golden("commands/ri_function_end", end.show("ri"))


def test_the_arguments_of_a_function_lead_to_their_values() -> None:
    prompt = Prompt(sample_step.step_start())
    assert prompt.link("ri", "kernel") == "pf kernel"
    assert prompt.data("pf x")["value"] == sample_step.X.tolist()
    assert prompt.show("pf x").startswith("Argument x")
    for link in prompt.links("ri"):
        if not link.startswith(("run", "continue", "detach")):
            prompt.run(link)


def test_the_json_of_a_function() -> None:
    data = Prompt(sample_step.step_start()).data("ri")
    assert data["function"] == "train_step" and data["title"] == "run #3: train_step(x, y, iterator)"
    assert data["arguments"][1:] == [
        {"name": "y", "dtype": "float32", "shape": [None, 1], "captured": False},
        {"name": "iterator", "dtype": "resource", "shape": None, "captured": False},
        {"name": "kernel", "dtype": "float32", "shape": [2, 1], "captured": True},
    ]
    assert any("traced the function anew" in note for note in data["notes"])
    assert Prompt(sample_run.run_start()).data("ri")["function"] is None


def test_a_function_without_arguments_says_none() -> None:
    call = replace(sample_step.step_call(), arguments=(), feeds={}, fetches=())
    shown = Prompt(RunStart(call)).show("ri")
    assert "Arguments (0)\n  none" in shown and "Returns (0)\n  none" in shown and "Captured" not in shown


def test_names_of_arguments_are_data() -> None:
    call = replace(sample_step.step_call(), arguments=(CallArgument("a\x1b[2J", "float32", (2,)),))
    assert "\x1b" not in Prompt(RunStart(call)).show("ri")


def test_filters_say_what_they_mean() -> None:
    def mine(datum, tensor):
        """Whether the weather is fine."""

    prompt = Prompt(sample_run.run_end(), {"mine": mine, "plain": lambda datum, tensor: True})
    check_golden("commands/filters", prompt.show("filters"))
    assert "checks has_inf_or_nan" not in Prompt(sample_run.opened()).show("filters")
    assert prompt.link("filters", "magnitude_above") == "lt -f magnitude_above"
    assert Prompt(sample_run.run_start()).link("filters", "has_nan") == "run -f has_nan"
    data = {each["name"]: each for each in prompt.data("filters")["filters"]}
    assert (data["near_overflow"]["number"], data["mine"]["built_in"]) == (0.5, False)
    for link in prompt.links("filters"):
        prompt.run(link)


def test_a_program_may_give_a_filter_of_ours_its_own_name_again() -> None:
    """As programs for TensorFlow 1 do: `add_tensor_filter("has_inf_or_nan", tf_debug.has_inf_or_nan)`."""
    prompt = Prompt(sample_run.run_end(), {"has_inf_or_nan": has_inf_or_nan, "mine": has_inf_or_nan})
    data = {each["name"]: each for each in prompt.data("filters")["filters"]}
    assert (data["has_inf_or_nan"]["built_in"], data["has_inf_or_nan"]["meaning"]) == (True, "a NaN or an infinity")
    assert (data["mine"]["built_in"], data["mine"]["checked_inside"]) == (False, True)


def test_what_was_done_at_a_stop_is_told_of_its_run_alone() -> None:
    prompt = Prompt(kept())
    assert "Bundle: /data/case" in prompt.show("ri")
    prompt.run("older")
    assert "Bundle" not in prompt.show("ri")
    assert "Bundle: /data/case" not in prompt.data("ri")["notes"]
