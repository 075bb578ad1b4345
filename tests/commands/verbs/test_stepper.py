"""The stepper at the prompt: its list, letters, steps and values, on a run made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from support.golden import check_golden
from support.prompt import Prompt
from support.sample_run import LOGITS, opened, run_end, run_start
from support.sample_stepper import SampleSteppable, SampleStepper

from tfdbg_cli.commands.registry import Moment
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.titles import stop_title
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import DebugRun
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Change
from tfdbg_cli.model.tensors import MemoryTensorStore


def _prompt(**arguments: Any) -> Prompt:
    return Prompt(replace(run_start(), steppable=SampleSteppable()), **arguments)


def test_the_stepper_opens_before_a_run_and_leads_back() -> None:
    prompt = _prompt()
    check_golden("commands/invoke_stepper", prompt.show("s"))
    assert stop_title(prompt.context).text == "stepper: 0 / 10, next x"
    stepper = prompt.context.stepper
    assert isinstance(stepper, SampleStepper)
    assert "not for the stepper" in prompt.error("run").message
    prompt.show("exit")
    assert stepper.closed and prompt.context.stepper is None
    assert "has not happened yet" in prompt.error("pt prob").message
    assert "is for the stepper" in prompt.error("step").message
    assert isinstance(prompt.run("run"), DebugRun)


def test_steps_and_targets_show_what_was_computed_and_the_list_around() -> None:
    prompt = _prompt()
    prompt.show("invoke_stepper")
    check_golden("commands/step", prompt.show("step -t 5"))
    check_golden("commands/cont", prompt.show("cont loss/Log:0"))
    assert "variables changed (copies): w" in prompt.show("cont train")
    assert "all computed" in stop_title(prompt.context).text
    check_golden("commands/list_sorted_nodes", prompt.show("lt"))
    data = prompt.data("lsn -l 4 -u 6")
    assert [(node["index"], node["name"], node["letters"]) for node in data["nodes"]] == [
        (4, "dense/MatMul", ["H"]),
        (5, "prob", ["I"]),
    ]
    assert prompt.data("c loss/Mean")["computed"] == ["loss/Mean"]
    assert "is no range" in prompt.error("lsn -l 6 -u 4").message


def test_values_are_looked_at_and_injected_and_nodes_too() -> None:
    prompt = _prompt()
    prompt.show("s")
    assert prompt.error("pt prob").message == "prob is not computed yet."
    prompt.show("cont prob")
    np.testing.assert_allclose(prompt.data("pt prob:0[0]")["value"], np.maximum(LOGITS, 0)[0])
    assert prompt.data("eval `prob:0`.max()")["value"] == np.maximum(LOGITS, 0).max()
    check_golden("commands/inject_value", prompt.show("inject_value prob:0[0, :] np.ones(2)"))
    assert prompt.data("pt prob:0[0]")["value"] == [1.0, 1.0]
    assert prompt.error("pt dense/MatMul").message == "dense/MatMul is not computed yet."
    assert "the value has [3]" in prompt.error("inject prob np.zeros(3)").message
    assert "Log" in prompt.show("lo prob")
    assert "Relu" in prompt.show("ni prob")
    assert len(prompt.show("list_tensors").splitlines()) > 3
    hint = prompt.error("inject prob").hint
    assert "inject_value TENSOR" in hint and "set " not in hint


def test_a_result_is_given_a_value_by_the_name_that_the_program_has_for_it() -> None:
    start = run_start()
    call = replace(start.call, fetches=("prob:0", "loss/Mean:0"), result_names=("out[0]", "out[1]"))
    prompt = Prompt(replace(start, call=call, steppable=SampleSteppable()))
    prompt.show("s")
    assert prompt.data("cont out[0]")["target"] == "prob"
    assert prompt.data("inject_value out[0][0, :] 1")["name"] == "prob:0"
    assert prompt.data("pt out[0][0]")["value"] == [1.0, 1.0]


def test_results_are_computed_and_injected_by_the_programs_names() -> None:
    """A blind test: pt knew these names, cont and inject did not."""
    start = run_start()
    call = replace(start.call, fetches=("loss/Mean:0", "prob:0"), result_names=("out['the loss']", "probs"))
    prompt = Prompt(replace(start, call=call, steppable=SampleSteppable()))
    prompt.show("s")
    error = prompt.error("pt probs")
    assert (error.message, error.hint) == ("probs is not computed yet.", "`cont probs` computes it.")
    assert prompt.data("cont probs")["target"] == "prob"
    assert prompt.data("inject probs[0,:] 1")["name"] == "prob:0"
    assert prompt.data("pt probs[0]")["value"] == [1.0, 1.0]
    assert prompt.data("cont out['the loss']")["target"] == "loss/Mean"
    assert prompt.data("inject \"out['the loss']\" 4")["name"] == "loss/Mean:0"


def test_the_origin_is_that_of_what_was_computed_so_far() -> None:
    prompt = _prompt()
    prompt.show("s")
    prompt.show("cont prob")
    assert "No NaN or infinity in what was computed so far." in prompt.show("origin")
    prompt.show("cont loss/Log")
    shown = prompt.show("origin")
    assert shown.startswith("Origin    loss/Log:0")
    assert "lt -f" not in shown, "the stepper's lt lists nodes, and has no such flag"


def test_it_opens_at_a_runs_end_and_on_a_bundle_where_the_state_is_held() -> None:
    assert "cannot be made node by node" in Prompt(run_end()).error("invoke_stepper").message
    error = Prompt(opened()).error("invoke_stepper")
    assert "cannot be made node by node" in error.message and "tfdbg replay" in error.hint
    end = run_end()
    prompt = Prompt(replace(end, run=replace(end.run, steppable=SampleSteppable())))
    prompt.show("invoke_stepper")
    prompt.show("cont prob")
    prompt.show("exit")
    assert "dumped tensor" in prompt.show("lt")


def test_short_names_mean_another_command_in_the_stepper() -> None:
    registry = standard_registry()
    within = {name: registry.find(name, Moment.STEPPING).name for name in ("lt", "c", "cont", "s", "exit", "q", "pt")}
    assert within == {
        "lt": "list_sorted_nodes",
        "c": "cont",
        "cont": "cont",
        "s": "step",
        "exit": "leave_stepper",
        "q": "leave_stepper",
        "pt": "print_tensor",
    }
    outside = {name: registry.find(name, Moment.RUN_END).name for name in ("lt", "c", "cont", "s", "exit")}
    assert outside == {
        "lt": "list_tensors", "c": "continue", "cont": "continue", "s": "invoke_stepper", "exit": "exit",
    }  # fmt: skip
    assert {"step", "inject", "lsn"} <= set(registry.names_at(Moment.STEPPING))
    assert not {"step", "run"} & set(registry.names_at(Moment.OPENED))


def test_of_a_run_with_other_values_those_are_given_to_the_stepper() -> None:
    """It went through the program's own run, without a word."""
    run = run_end().run
    (log,), (prob,) = (run.tensors.named(name, 0) for name in ("loss/Log", "prob"))
    value = np.ones_like(run.tensors.value(prob))
    rows = [(run.tensors[row], value if row == prob else run.tensors.value(row)) for row in range(len(run.tensors))]
    tensors = MemoryTensorStore(*zip(*rows, strict=True))
    replaced = {run.tensors[prob].name: value, TensorName("gone", 0): value}
    made = replace(run, tensors=tensors, change=Change(run, replaced, 3), steppable=SampleSteppable())
    prompt = Prompt(replace(run_end(), run=run))
    prompt.context.look_at_made(made)
    shown = " ".join(prompt.show("invoke_stepper").split())
    assert "10 nodes of the run with other values" in shown
    assert "prob:0 is replaced here, too, as by `set`." in shown
    assert "gone:0 is as in the program's own run here: it cannot be replaced." in shown
    prompt.show("cont loss/Log")
    assert np.ravel(prompt.data("pt loss/Log")["value"]).tolist() == [0.0] * run.tensors.value(log).size


def test_a_number_of_steps_without_its_flag_is_answered_by_what_to_type() -> None:
    prompt = _prompt()
    prompt.run("invoke_stepper")
    assert prompt.error("step 3").hint == "The number stands behind -t: st -t 3"


def test_of_a_copy_that_a_function_returns_what_it_is_a_copy_of_is_overridden() -> None:
    """A blind test: `inject_value loss 4` overrode a copy that nothing reads."""
    start = run_start()
    call = replace(start.call, kind=RunKind.FUNCTION, fetches=("w/read:0",), result_names=("kernel",))
    prompt = Prompt(replace(start, call=call, steppable=SampleSteppable()))
    prompt.show("s")
    assert prompt.data("inject kernel 1")["name"] == "w:0"
    assert prompt.data("inject w/read 1")["name"] == "w/read:0"
    assert "w/read" in prompt.show("cont kernel")


def test_a_variable_by_its_name_is_given_another_value_on_the_copy_of_the_stepper() -> None:
    """A blind test: a variable was no tensor of this run, and no way out was told."""
    prompt = _prompt()
    prompt.show("s")
    assert "This copy of the variable holds it from now on" in prompt.show("inject_value w 1")
    assert prompt.data("inject_value w[0,0] 3")["name"] == "w:0"
    prompt.show("cont w/read")
    assert prompt.data("pt w/read")["value"] == [[3.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    assert "The slice [7] does not fit" in prompt.error("inject_value w[7] 3").message


def test_variables_that_steps_have_written_before_an_injection_are_told_of() -> None:
    prompt = Prompt(replace(run_end(), run=replace(run_end().run, steppable=SampleSteppable())))
    prompt.show("invoke_stepper")
    assert "w keeps" not in prompt.show("inject_value prob 1")
    prompt.show("cont train")
    told = " ".join(prompt.show("inject_value prob 1").split())
    assert "w keeps what steps have written there with the value before: `cont -r NODE` puts variables back" in told


def test_of_a_run_with_another_variable_the_stepper_has_it_too() -> None:
    """It was said that the run computes it more than once."""
    run = run_end().run
    w = TensorName("w", 0)
    prompt = Prompt(replace(run_end(), run=run))
    change = Change(run, {w: np.float32([[1, 2], [3, 4], [5, 6]])}, 3)
    prompt.context.look_at_made(replace(run, change=change, steppable=SampleSteppable()))
    assert "The variable w holds here, too, what `set` gave it." in prompt.show("invoke_stepper")
    prompt.show("cont w/read")
    assert prompt.data("pt w/read")["value"] == [[1, 2], [3, 4], [5, 6]]
