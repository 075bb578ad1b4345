"""A result by the name that the program has for it, as the list of runs shows it."""

from __future__ import annotations

from dataclasses import replace

from support.made_run import CPU, Op, made_graph, made_run, op
from support.prompt import Prompt

from tfdbg_cli.commands.service.tensor_walk import Walk
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Run, RunEnd

_FETCHES = ("Identity:0", "Identity_1:0", "Identity_2:0")


def _run(*names: str) -> Run:
    ops = [
        op("x/loss", "Mean", value=7.0),
        *(op(name[:-2], "Identity", "x/loss", value=[2.5, 3.5]) for name in _FETCHES),
    ]
    run = made_run(*ops)
    call = replace(run.call, kind=RunKind.FUNCTION, function="step", fetches=_FETCHES, result_names=names)
    return replace(run, call=call)


def test_commands_know_results_by_the_names_of_the_program() -> None:
    prompt = Prompt(_run("loss", "m.step", "m.step"))
    assert prompt.data("pt loss")["name"] == prompt.data("history loss")["tensor"] == "Identity:0"
    assert prompt.data("pt loss[1]")["value"] == 3.5
    assert prompt.data("ni loss")["name"] == "Identity"
    assert prompt.data("ev `loss`.max()")["value"] == 3.5
    error = prompt.error("pt m.step")
    assert error.message == "m.step is the name of 2 results." and error.hint == "Write Identity_1:0 or Identity_2:0."


def test_a_name_of_the_graph_comes_first_and_its_last_parts_do_not() -> None:
    named = Prompt(_run("x/loss", "loss", ""))
    assert named.data("pt x/loss")["name"] == "x/loss:0"
    assert named.data("pt loss")["name"] == "Identity_1:0" and named.data("ni loss")["name"] == "Identity_1"
    assert named.data("pt …/loss")["name"] == "x/loss:0"
    assert Prompt(_run("", "", "")).data("pt loss")["name"] == "x/loss:0"


def test_a_result_that_the_program_has_by_two_names_is_known_by_both() -> None:
    """A blind test: of `session.run({"loss": l, "objective": l})` the second name was not known."""
    run = _run()
    twice = ("Identity:0", "Identity:0", "Identity_1:0")
    call = replace(
        run.call, kind=RunKind.SESSION, function="", fetches=twice, result_names=("loss", "objective", "step")
    )
    prompt = Prompt(replace(run, call=call))
    assert prompt.data("pt loss")["name"] == prompt.data("pt objective")["name"] == "Identity:0"
    assert call.what == "2 fetches (Identity:0, …); 0 feeds"


def test_a_name_with_brackets_is_known_as_it_is_shown() -> None:
    """A blind test: `runs` showed out[0], and `pt out[0]` said that there is no tensor 'out'."""
    prompt = Prompt(_run("out[0]", "metrics.both[1]", "[1]"))
    assert prompt.data("pt out[0]")["name"] == prompt.data("history out[0]")["tensor"] == "Identity:0"
    assert prompt.data("ni metrics.both[1]")["name"] == "Identity_1" and prompt.data("ni [1]")["name"] == "Identity_2"
    assert prompt.data("pt [1]")["name"] == "Identity_2:0" and prompt.data("pt [1][0]")["value"] == 2.5
    assert prompt.data("pt out[0][1]")["value"] == prompt.data("ev `out[0]`.max()")["value"] == 3.5
    assert prompt.error("pt out").hint == "Did you mean out[0]?"
    assert prompt.error("pt out[7]").message == "There is no tensor 'out' in this run."


def test_a_device_stands_before_a_name_with_brackets_as_before_any() -> None:
    prompt = Prompt(_run("out[0]", "metrics.both[1]", "[1]"))
    for device in (CPU, "/CPU:0", "/device:CPU:0"):
        assert prompt.data(f"pt {device}:out[0]")["name"] == "Identity:0"
        assert prompt.data(f"pt {device}:out[0][1:2]")["value"] == [3.5]
        assert prompt.data(f"ev `{device}:out[0]`.max()")["value"] == 3.5
        assert prompt.data(f"ni {device}:[1]")["name"] == "Identity_2"
    assert prompt.error("pt /CPU:1:out[0]").message == "out[0] is not on a device '/CPU:1'."


def test_where_there_is_no_node_results_are_suggested_too() -> None:
    prompt = Prompt(_run("out[0]", "metrics.both[1]", "[1]"))
    for command in ("ni", "li", "lo"):
        error = prompt.error(f"{command} out")
        assert error.message == "There is no node 'out' in this runtime graph."
        assert error.hint == "Did you mean out[0]?"


def test_a_result_is_named_where_only_the_end_of_its_name_was_given() -> None:
    error = Prompt(_run("parts.main", "", "")).error("history main")
    assert error.hint.startswith("Did you mean parts.main")


def _of_two_functions() -> RunEnd:
    """Two runs of a step whose loss is its first result, kept before one of a function of which it is the second."""
    step, evaluate = _run("loss", "parts.acc", ""), _run("err", "loss", "n[1]")
    calls = [
        replace(step.call, number=1),
        replace(step.call, number=2),
        replace(evaluate.call, number=3, function="evaluate"),
    ]
    runs = [replace(run, call=call) for run, call in zip((step, step, evaluate), calls, strict=True)]
    return RunEnd(runs[-1], earlier=runs[:-1])


def test_a_result_of_another_function_is_followed_there_with_all() -> None:
    """A blind test: `history err -a` said that there is no such tensor, though three kept runs held it."""
    prompt = Prompt(_of_two_functions())
    prompt.run("runs 1")
    error = prompt.error("history err")
    assert error.message == "There is no tensor 'err' in this run."
    assert error.hint == "Other runs have it: `history err -a` follows it there."
    followed = prompt.data("history err -a")
    assert followed["tensor"] == "err" and [point["run"] for point in followed["points"]] == [3]
    assert followed["without"] == 2, "what has the same node in another function is another tensor"
    assert prompt.data("history n[1][0] -a")["tensor"] == "n[1][0]"


def _of_two_fetches(*others: Op) -> RunEnd:
    """Runs of one session's graph: two that fetch the one loss, and the last, which fetches the other."""
    graph = made_graph(
        op("x", "Const"), op("dloss", "Mean", "x"), op("gloss", "Mean", "x"), *others, kind=GraphKind.PYTHON
    )
    losses = [
        made_run(op(name, "Mean", value=value)) for name, value in (("dloss", 1.0), ("dloss", 2.0), ("gloss", 3.0))
    ]
    runs = [replace(run, graph=graph, call=replace(run.call, number=number)) for number, run in enumerate(losses, 1)]
    return RunEnd(runs[-1], earlier=runs[:-1])


def test_what_this_run_of_a_session_did_not_compute_is_followed_in_those_that_did() -> None:
    """A blind test: `history dloss -a` said that this run did not compute it, where six kept runs held it."""
    prompt = Prompt(_of_two_fetches(op("other", "Mean", "x")))
    error = prompt.error("history dloss")
    assert error.message.startswith("This run did not compute dloss: none of its fetches")
    assert error.hint == "Other runs have it: `history dloss -a` follows it there."
    assert prompt.error("pt dloss").hint.startswith("Look at the run that fetches it")
    followed = prompt.data("history dloss -a")
    assert [point["run"] for point in followed["points"]] == [1, 2] and followed["without"] == 1
    assert prompt.error("history other -a").hint == prompt.error("pt other").hint, "no run computed it"


def test_a_result_is_followed_by_its_name_through_functions_that_give_it_elsewhere() -> None:
    prompt = Prompt(_of_two_functions())
    assert [point["run"] for point in prompt.data("history loss -a")["points"]] == [1, 2, 3]
    assert (
        prompt.error("history [1]").message
        == prompt.error("pt [1]").message
        == "There is no tensor '[1]' in this run."
    )
    prompt.run("runs 3")
    assert prompt.error("history acc -a").hint == "Did you mean parts.acc?"
    assert prompt.error("history acc").hint != "Other runs have it: `history acc -a` follows it there."
    assert prompt.data("history Identity -a")["tensor"] == "Identity:0", "a node is followed by its name"


def test_what_is_nothing_but_brackets_is_found_in_other_functions() -> None:
    one, other = _run("[0]", "[1]", "parts[0].x"), _run("err", "", "")
    other = replace(other, call=replace(other.call, number=2, function="evaluate"))
    prompt = Prompt(RunEnd(other, earlier=[one]))
    assert prompt.error("history [1]").hint == "Other runs have it: `history '[1]' -a` follows it there."
    assert prompt.data("history [1] -a")["tensor"] == "[1]"
    assert (
        prompt.error("history parts[0].x").hint == "Other runs have it: `history 'parts[0].x' -a` follows it there."
    )
    assert prompt.data("history parts[0].x -a")["tensor"] == "parts[0].x"
    assert prompt.error("ni [1]").message.startswith("There is no node '[1]'")


def test_a_page_about_a_result_with_brackets_is_about_a_node() -> None:
    prompt = Prompt(_run("[0]", "[1]", ""))
    walk = Walk(prompt.context, standard_registry())
    assert walk.index_of("pt [1]") is not None
    assert walk.node_of("ni [1]") == "[1]", "that it is none is found where it is looked for"
