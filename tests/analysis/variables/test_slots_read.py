"""What an optimizer reads for the update of one variable alone is a slot of that, whatever its name."""

from __future__ import annotations

from dataclasses import replace

from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.variables.listing import variables_of
from tfdbg_cli.model.calls import CallArgument, RunKind
from tfdbg_cli.model.runs import Run


def _momentum(variable: str, slot: str, number: int) -> list[Op]:
    """Keras' update of `variable` with its `slot`; both lie in the forward pass as nothing else does."""
    at = f"sgd/{number}"
    return [
        op(f"read_{number}", "ReadVariableOp", variable), op(f"y_{number}", "Mul", f"read_{number}", "x"),
        op(f"gradient_tape/Mul_{number}", "Mul", f"y_{number}", "x"),
        op(f"{at}/ReadVariableOp", "ReadVariableOp", slot),
        op(f"{at}/Sub", "Sub", f"{at}/ReadVariableOp", f"gradient_tape/Mul_{number}"),
        op(f"{at}/AssignVariableOp", "AssignVariableOp", slot, f"{at}/Sub"),
        op(f"{at}/AssignAddVariableOp", "AssignAddVariableOp", variable, f"{at}/Sub"),
    ]  # fmt: skip


def _run() -> Run:
    names = ("Variable", "Variable_1", "sgd/Variable_0_momentum", "sgd/Variable_0_momentum_1")
    steps = [*_momentum(names[0], names[2], 0), *_momentum(names[1], names[3], 1)]
    run = made_run(op("x", "Placeholder", value=[1.0, 2.0]), *[op(name, "Placeholder") for name in names], *steps)
    arguments = (
        CallArgument("x", "float32", (2,)),
        *(CallArgument(name, "float32", (2,), captured=True) for name in names),
    )
    return replace(run, call=replace(run.call, kind=RunKind.FUNCTION, arguments=arguments))


def test_a_slot_belongs_to_the_variable_that_it_updates() -> None:
    """A blind test: Keras names slots of plain variables, which have all one name, by a number behind."""
    owners = {one.name: one.slot_of for one in variables_of(_run())}
    assert owners == {
        "Variable": "",
        "Variable_1": "",
        "sgd/Variable_0_momentum": "Variable",
        "sgd/Variable_0_momentum_1": "Variable_1",
    }
