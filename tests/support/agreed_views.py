"""The pages of all commands, as a person at the screen opens them: a stop, a command, some keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from support import sample_run, sample_step
from support.job_maker import step
from support.kept_stop import kept
from support.known_records import FOUND, Data, batch
from support.made_run import made_run, op
from support.paused_program import paused
from support.replica_steps import replicated_step
from support.sample_stepper import SampleSteppable
from support.sample_what_if import changeable
from support.traced_functions import traced_stop
from support.trained_steps import trained_steps
from support.two_runs import before, both
from support.worker_steps import opened_job
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.beside import Observations
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.ignored import Ignored, IgnoredPlace
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.rules import RuleAlert
from tfdbg_cli.model.runs import Opened, RunEnd, Stop
from tfdbg_cli.model.sources import Frame


@dataclass(frozen=True)
class Screen:
    """A page: the stop that it is opened at, its command, the keys pressed there, and what the person has set."""

    stop: Callable[[], Stop]
    opening: str
    keys: str = ""
    settings: Settings = field(default_factory=Settings)


def _step() -> RunEnd:
    return RunEnd(sample_step.step_run())


def _fine() -> RunEnd:
    """A run in which nothing is wrong."""
    return RunEnd(made_run(op("x", "Placeholder", value=[1.0, 2.0]), op("y", "Neg", "x", value=[-1.0, -2.0])))


def _amid() -> RunEnd:
    """A program that stands in the middle of a run, two calls deep in its own files."""
    loss = {"prob": sample_run.PROB, "scale": 0.5, "names": ["cat", "dog\x1b[2J"], "np": np}
    frames = (
        LiveFrame(
            Frame("/home/ada/train.py", 6, "<module>", 'logits = tf.matmul(x, w, name="dense/MatMul")'), {}, {}
        ),
        LiveFrame(Frame("/usr/lib/python3.11/site-packages/keras/src/layer.py", 80, "call", "run()"), {}, {}),
        LiveFrame(Frame("/home/ada/train.py", 8, "loss", "loss = tf.reduce_mean(y * tf.log(prob))"), loss, {}),
    )
    return RunEnd(replace(sample_run.sample_run(), frames=frames))


def _branching() -> RunEnd:
    """A condition of which one side ran, and one in a loop that took each side."""
    turns = (True, False, True)
    return RunEnd(
        made_run(
            op("x", "Placeholder", value=[1.0, -2.0]),
            op("Greater", "Greater", "x", value=False),
            op("cond/true/Log", "Log", "x"),
            op("cond/false/Exp", "Exp", "x", value=np.exp([1.0, -2.0])),
            op("cond", "StatelessIf", "Greater", "cond/true/Log", "cond/false/Exp", value=np.exp([1.0, -2.0])),
            op("while/body/Less", "Less", "x", values=turns),
            op("while/body/cond/true/Neg", "Neg", "x", values=[[-1.0, 2.0]] * 2),
            op("while/body/cond/false/Abs", "Abs", "x", values=[[1.0, 2.0]]),
            op(
                "while/body/cond", "StatelessIf", "while/body/Less", "while/body/cond/true/Neg",
                "while/body/cond/false/Abs", values=[[1.0, 2.0]] * 3,
            ),
            op("while", "StatelessWhile", "cond", "while/body/cond", value=[1.0, 2.0]),
        )
    )  # fmt: skip


def _stepping() -> Stop:
    return replace(sample_run.run_start(), steppable=SampleSteppable())


def _profiled() -> RunEnd:
    times = (("x", "Placeholder", 0, 2), ("dense/MatMul", "MatMul", 10, 1200), ("loss/mul", "Mul", 1400, 600))
    nodes = [NodeTime(name, op_type, sample_run.CPU0, start, took // 2, took) for name, op_type, start, took in times]
    other = NodeTime("grad/unique", "Unique", sample_run.CPU1, 60, 5, 7)
    return RunEnd(sample_run.sample_run(profile=Profile((*nodes, other))))


def _workers() -> Opened:
    """Three steps of two workers of one job."""
    numbers = ((1, "chief0"), (1, "worker1"), (2, "chief0"))
    steps = [replace(made := step(number), call=replace(made.call, worker=worker)) for number, worker in numbers]
    return Opened("/shared/runs", steps, workers=("chief0", "worker1"))


def _ignoring() -> RunEnd:
    places = (
        IgnoredPlace(3, "", TensorName("mask", 0), "Const", "-inf", "a mask of -inf", True, ("mask", "masked")),
        IgnoredPlace(3, "", TensorName("log", 1), "Log", "NaN", "no result is touched", False, ("log",)),
    )
    return replace(sample_run.run_end(), ignored=Ignored(places))


def _replicas(*, forgotten: bool = False) -> RunEnd:
    return RunEnd(replicated_step(forgotten=forgotten))


def _ruled() -> RunEnd:
    """A stop for a rule that fired in this run, with what rules have found in earlier ones."""
    alerts = (
        RuleAlert("dead_relu", 1, "", "prob:0", 0, "Relu", "/home/ada/train.py", 7, "float32[4,2] all x=0", 2, 3),
        RuleAlert(
            "exploding_gradient", 3, "", "grad/dense/MatMul:0", 0, "MatMul", None, None, "float32[3,2] |x|≤4e5"
        ),
    )
    return replace(sample_run.run_end(), beside=Observations(alerts))


VIEWS = {
    # lists and their counts
    "texts": Screen(sample_run.run_end, "pt names:0"),
    "unset": Screen(sample_run.run_end, "pt cold:0"),
    "opaque": Screen(sample_run.run_end, "pt table:0"),
    "chosen-columns": Screen(
        sample_run.run_end, "lt", "jjj", Settings(columns="nan,inf,std,zero,histogram,execution,dtype")
    ),
    "nodes": Screen(sample_run.run_end, "ln"),
    "frequencies": Screen(sample_run.run_end, "frequencies op"),
    "found": Screen(sample_run.run_end, "find loss"),
    "alerts": Screen(sample_run.run_end, "alerts"),
    "alerts-of-runs": Screen(lambda: sample_run.opened(2), "alerts", "jjj"),
    "alerts-none": Screen(_fine, "alerts"),
    "alerts-of-rules": Screen(_ruled, "alerts"),
    "sources": Screen(sample_run.run_end, "ls"),
    "profile": Screen(_profiled, "lp"),
    "profile-by-line": Screen(_profiled, "lp --by line"),
    "profiled-source": Screen(_profiled, "ps train.py"),
    "variables": Screen(sample_run.run_end, "lv"),
    "layers": Screen(_step, "layers"),
    "layers-unfolded": Screen(_step, "layers --unfold *", "jj"),
    # one thing
    "node": Screen(sample_run.run_end, "ni -t loss/Log"),
    "tensor": Screen(sample_run.run_hit, "pt loss/Log:0"),
    "tensor-text": Screen(sample_run.run_hit, "pt -a loss/Log:0"),
    "turns": Screen(sample_run.run_end, "pt step/while/Add:0"),
    "branch": Screen(_branching, "ni cond", "j"),
    "branch-in-a-loop": Screen(_branching, "ni while/body/cond"),
    "feed": Screen(sample_run.run_end, "pf x:0"),
    "evaluated": Screen(sample_run.run_end, "eval np.exp(`loss/Log:0`)"),
    "preview": Screen(sample_run.run_end, "preview loss/Log:0"),
    "preview-layer": Screen(_step, "preview lt -l model/lstm"),
    "error": Screen(sample_run.run_failed, "error_info"),
    "origin-none": Screen(_fine, "origin"),
    "origin-all": Screen(sample_run.run_hit, "origin --all"),
    "origin-step": Screen(_step, "origin"),
    "row": Screen(sample_run.run_hit, "row"),
    "records": Screen(lambda: RunEnd(batch(Data(FOUND))), "input"),
    "records-unknown": Screen(sample_run.run_hit, "input"),
    # the graph
    "inputs": Screen(sample_run.run_end, "li -r loss/Mean"),
    "outputs": Screen(sample_run.run_end, "lo -r x"),
    "tree": Screen(_step, "tree", "E"),
    "path": Screen(sample_run.run_end, "path x loss/Mean"),
    "path-none": Screen(sample_run.run_end, "path big loss/Mean"),
    "placement": Screen(sample_run.run_end, "placement"),
    # runs
    "run-info": Screen(sample_run.run_end, "run_info"),
    "run-info-start": Screen(sample_run.run_start, "run_info"),
    "run-info-failed": Screen(sample_run.run_failed, "run_info"),
    "runs": Screen(lambda: sample_run.opened(3), "runs"),
    "runs-of-workers": Screen(_workers, "runs"),
    "tensors-of-a-worker": Screen(_workers, "lt", "]"),
    "timeline": Screen(lambda: sample_run.opened(3), "timeline"),
    "history": Screen(trained_steps, "history gradient_tape/dense/MatMul:0"),
    "history-of-many": Screen(lambda: sample_run.opened(40), "lt", ":runs 30<enter>:history x<enter>"),
    "trends": Screen(trained_steps, "trends"),
    "traces": Screen(traced_stop, "traces"),
    "traces-name": Screen(traced_stop, "traces step"),
    "older": Screen(kept, "history step/loss:0", "["),
    # what differs, and what would be
    "diff": Screen(both, "diff 1 2"),
    "diff-graphs": Screen(both, "diff 1 2 --graphs"),
    "diff-same": Screen(lambda: Opened("/data/runs", [before(), before()]), "diff 1 2"),
    "diff-replicas": Screen(lambda: _replicas(forgotten=True), "diff --replicas"),
    "diff-replicas-equal": Screen(_replicas, "diff --replicas"),
    "diff-workers": Screen(lambda: opened_job(-3.0), "diff 1 2"),
    "diff-workers-equal": Screen(opened_job, "diff 1 2"),
    "set": Screen(changeable, "set", ":set prob:0 np.maximum(`prob:0`, 1)<enter>:set<enter>"),
    "set-none": Screen(changeable, "set"),
    "unset-value": Screen(changeable, "lt", ":set prob:0 1<enter>:unset prob:0<enter>"),
    "again": Screen(changeable, "set", ":set prob:0 np.maximum(`prob:0`, 1)<enter>:again --diff<enter>"),
    "again-tensors": Screen(changeable, "set", ":set prob:0 1<enter>:again<enter>:lt<enter>"),
    "original": Screen(changeable, "set", ":set prob:0 1<enter>:again<enter>:original<enter>"),
    # the stepper
    "stepper": Screen(_stepping, "run_info", ":s<enter>..."),
    "stepper-list": Screen(_stepping, "run_info", ":s<enter>:lsn<enter>"),
    "stepper-to": Screen(_stepping, "run_info", ":s<enter>:cont loss/Log:0<enter>"),
    "stepper-override": Screen(
        _stepping, "run_info", ":s<enter>:cont prob<enter>:inject_value prob:0[0, :] np.ones(2)<enter>"
    ),
    "stepper-left": Screen(_stepping, "run_info", ":s<enter>:exit<enter>"),
    # a program that stands
    "frames": Screen(_amid, "frames", "jj"),
    "frames-none": Screen(sample_run.run_end, "run_info", ":frames<enter>"),
    "frames-up": Screen(_amid, "frames", ":up<enter>"),
    "frames-down": Screen(_amid, "frames", ":up<enter>:down<enter>"),
    "locals": Screen(_amid, "locals"),
    "locals-outer": Screen(_amid, "locals 0"),
    "python": Screen(_amid, "py float(prob.max() * scale)"),
    "here": Screen(lambda: paused()[0], "here"),
    "breakpoints-none": Screen(lambda: paused()[0], "break"),
    "breakpoints": Screen(lambda: paused()[0], "here", ":break Log when input.min <= 0<enter>:break 40<enter>"),
    "breakpoint-gone": Screen(lambda: paused()[0], "here", ":break Log<enter>:delete 1<enter>"),
    # filters, and what they leave out
    "filters": Screen(sample_run.run_end, "filters"),
    "queries": Screen(sample_run.run_end, "queries"),
    "ignore": Screen(sample_run.run_hit, "ignore loss/Log"),
    "ignored": Screen(_ignoring, "ignored"),
    "ignored-none": Screen(sample_run.run_end, "ignored"),
    # housekeeping
    "config": Screen(sample_run.run_end, "config"),
    "version": Screen(sample_run.run_end, "version"),
    "help": Screen(sample_run.run_end, "help lt"),
    "help-all": Screen(sample_run.run_end, "help"),
    "help-graph": Screen(sample_run.run_end, "help li"),
}
MAIN = (
    "node", "tensor", "tensor-text", "error", "trends", "layers", "run-info", "path", "config", "frames", "locals",
    "diff", "row", "runs", "stepper", "ignored", "alerts", "history",
)  # fmt: skip
