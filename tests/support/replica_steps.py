"""A mirrored step of two replicas, made without TensorFlow: variables and their updates stand once for each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from support.made_run import CPU, OTHER, Op, made_run, op
from support.saved_sources import SavedSources
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame

_SCALE = np.float32(0.5)


def _next_batches(asked: bool) -> list[Op]:
    """A batch for each replica, drawn from an iterator of its own; `asked` says whether there is one, first."""
    if not asked:
        return [op(f"next{one}", "IteratorGetNext", f"it{one}", device="") for one in ("", "_1")]
    branch = "cond/true/cond"
    return [
        op("optional", "IteratorGetNextAsOptional", "it", device=""),
        op("optional_1", "IteratorGetNextAsOptional", "it_1", device=""),
        op("has", "OptionalHasValue", "optional", device=""),
        op("cond", "If", "has", "cond/true/Identity", "cond/true/Identity_1", "cond/false/Identity",
           "cond/false/Identity_1", "optional", "optional_1", "it", "it_1", device="", Tout="[float32, float32]"),
        op("StatefulPartitionedCall", "StatefulPartitionedCall", "x", "x_1", "w", "w/replica_1", device=""),
        *(op(f"{branch}{'_1' * n}", "StatelessIf", "has", f"{branch}{'_1' * n}/true/Identity",
             f"{branch}{'_1' * n}/false/zeros", device=at) for n, at in enumerate((CPU, OTHER))),
        *(op(f"{branch}{'_1' * n}/true/Identity", "OptionalGetValue", f"optional{'_1' * n}", device=at)
          for n, at in enumerate((CPU, OTHER))),
        *(op(f"cond/true/Identity{'_1' * n}", "Identity", f"{branch}{'_1' * n}", device="") for n in (0, 1)),
        *(op(f"cond/false/Identity{'_1' * n}", "IteratorGetNext", f"it{'_1' * n}", device="") for n in (0, 1)),
    ]  # fmt: skip


def _replica(number: int, batch: float, weight: float, seen: float) -> list[Op]:
    """The ops of one replica up to its gradient: a metric, which it had counted up to `seen`, is its own."""
    scope, device = (f"replica_{number}/", OTHER) if number else ("", CPU)
    x, w = ("x_1", "w/replica_1") if number else ("x", "w")
    given, held = np.float32([batch, 1]), np.float32([weight, weight])
    return [
        op(x, "Placeholder", value=given, device=device),
        op(w, "VarHandleOp", device=device),
        op(f"seen{'/replica_1' * number}", "VarHandleOp", device=device),
        op(f"{scope}read", "ReadVariableOp", w, value=held, device=device),
        op(f"{scope}seen/read", "ReadVariableOp", f"seen{'/replica_1' * number}", value=seen, device=device),
        op(f"{scope}mul", "Mul", x, f"{scope}read", value=given * held, device=device),
        op(f"{scope}loss", "Sum", f"{scope}mul", value=np.sum(given * held), device=device),
        op(f"{scope}gradient_tape/mul", "Mul", x, f"{scope}mul", value=given * given, device=device),
        op(f"seen{'/replica_1' * number}/after_update", "UpdatedVariable", f"seen{'/replica_1' * number}",
           f"{scope}loss", value=np.float32(seen + batch), device=device),
    ]  # fmt: skip


def _updated(number: int, total: np.ndarray, weight: float, forgotten: bool) -> list[Op]:
    """What is done for one replica once the gradients are summed; outside of its scope, as a strategy does it."""
    device, w = (OTHER, "w/replica_1") if number else (CPU, "w")
    step = total * _SCALE
    after = np.float32([weight, weight]) - step * (not forgotten)
    return [
        op(f"Identity{'_1' * number}", "Identity", "AddN", value=total, device=device),
        op(f"update_{number}/scaled", "Mul", f"Identity{'_1' * number}", "half", value=step, device=device),
        op(f"{w}/after_update", "UpdatedVariable", w, f"update_{number}/scaled", value=after, device=device),
    ]


def _step(weight: float, forgotten: bool, seen: float, first_seen: float = 0.0) -> list[Op]:
    batches = 1.0, 5.0
    total = np.float32([batches[0] ** 2 + batches[1] ** 2, 2])
    return [
        *_replica(0, batches[0], 1.0, first_seen),
        *_replica(1, batches[1], weight, seen),
        op("AddN", "AddN", "gradient_tape/mul", "replica_1/gradient_tape/mul", value=total),
        op("half", "Const", value=_SCALE),
        *_updated(0, total, 1.0, forgotten=False),
        *_updated(1, total, weight, forgotten),
    ]


def drawing_step(*, asked: bool = True, recorded: bool = True, weight: float = 1.0) -> Run:
    """The same step, which draws its batches itself, as `next(iterator)` in it does; what it updates is not read.

    `recorded` says whether the run shows the batches, `asked` whether it asks if there are any, first.
    """
    source = (lambda n: f"cond:{n}") if asked else (lambda n: f"next{'_1' * n}")

    def drawn(one: Op) -> Op:
        if one.op_type == "UpdatedVariable":
            return replace(one, op_type="AssignVariableOp", name=one.name.replace("after_", ""), values=())
        if one.op_type != "Placeholder":
            return one
        given = one.values if recorded else ()
        return replace(one, op_type="Identity", inputs=(source(int(one.name == "x_1")),), values=given, device="")

    made = [*map(drawn, _step(weight, forgotten=False, seen=3.0))]
    return made_run(*(op(name, "Placeholder", device="") for name in ("it", "it_1")), *_next_batches(asked), *made)


def replicated_step(
    *, weight: float = 1.0, forgotten: bool = False, seen: float = 0.0, first_seen: float = 0.0
) -> Run:
    """A mirrored step of two replicas; `weight` is what the second one holds, `forgotten` that nobody updates it.

    `first_seen` and `seen` are what the metrics of both have counted before.
    """
    run = made_run(*_step(weight, forgotten, seen, first_seen))
    frames = {
        name: (Frame("/home/ada/train.py", at, "step", ""),) for name, at in (("w/after_update", 7), ("read", 4))
    }
    frames |= {"w/replica_1/after_update": (Frame("/home/ada/train.py", 7, "step", ""),)}
    frames |= {"replica_1/read": (Frame("/home/ada/train.py", 4, "step", ""),)}
    text = "\n".join(f"step {number}" for number in range(1, 10))
    return replace(run, tracebacks=frames, sources=SavedSources({"/home/ada/train.py": text}))
