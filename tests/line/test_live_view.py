"""What the lines at the bottom of the terminal say."""

from __future__ import annotations

from dataclasses import dataclass, field

from tfdbg_cli.line.bottom_lines import BottomLines
from tfdbg_cli.line.live_view import LiveView, _fitted
from tfdbg_cli.model.beside import Observations
from tfdbg_cli.model.rules import RuleAlert
from tfdbg_cli.model.series import Quantity, Series


@dataclass(eq=False)
class Debugger:
    run_count: int = 0
    beside: Observations | None = field(default_factory=Observations)


class Bottom(BottomLines):
    """Notes what is drawn."""

    def __init__(self) -> None:
        super().__init__(-1, 4)
        self.given_back = 0

    def give_back(self) -> None:
        self.given_back += 1


def _rows(view: LiveView, now: float, columns: int = 80) -> list[str]:
    return [_fitted(one, columns, color=False) for one in view.lines(now)]


def test_runs_and_their_pace() -> None:
    view, debugger, other = LiveView(Bottom(), norms=False, alerts=False), Debugger(), Debugger(2)
    view.follow(debugger)
    view.follow(other)
    assert _rows(view, 10.0)[0] == "── tfdbg 2 runs " + "─" * 63
    debugger.run_count = 1234
    assert _rows(view, 12.0) == ["── tfdbg 1,236 runs, 617 a second now " + "─" * 41, " nothing is watched"]
    del other  # its runs count on
    for now in range(13, 30):
        debugger.run_count += 10
        last = _rows(view, float(now))[0]
    assert last == "── tfdbg 1,406 runs, 10 a second now " + "─" * 42


def test_the_words_of_the_watch_are_there_from_its_beginning_and_behind_each_run() -> None:
    """A blind test: nothing was said to be watched until the first run was over, and then 151 runs of 188."""
    view = LiveView(Bottom(), norms=False, alerts=False)
    view.begin(lambda: "no has_nan in 0 runs")
    assert _rows(view, 0.0)[1] == " no has_nan in 0 runs"
    for number in (1, 2):
        view.tick(lambda number=number: f"no has_nan in {number} runs")
        assert _rows(view, 0.1 * number)[1] == f" no has_nan in {number} runs"
    with view.hidden():
        pass
    assert _rows(view, 2.0)[1] == " nothing is watched"


def test_norms_over_all_layers_and_the_last_alert() -> None:
    debugger = Debugger()
    view = LiveView(Bottom(), norms=True, alerts=True)
    view.follow(debugger)
    assert _rows(view, 1.0)[2:] == [" no norms yet", " no alerts"]
    debugger.beside = Observations((), {"evaluate": ()}, keeps_norms=True)
    assert _rows(view, 1.5)[2] == " no norms in the runs so far: no gradients, no trained variables"
    layers = [
        Series("a", Quantity.GRADIENT, (1, 2, 3), (3.0, 0.3, 0.0)),
        Series("b", Quantity.GRADIENT, (1, 2, 3), (4.0, 0.4, float("nan"))),
        Series("b", Quantity.WEIGHT, (1, 2), (1.0, 2.0)),
    ]
    alerts = [
        RuleAlert("dead_relu", 3, "step", "step/Relu:0", 0, "Relu", None, None, "all 0"),
        RuleAlert("exploding_gradient", 2, "step", "step/\x1b[31mMatMul:0", 0, "MatMul", None, None, "|x|≤4e5"),
    ]
    debugger.beside = Observations(tuple(alerts), {"step": layers})
    norms, alert = _rows(view, 2.0)[2:]
    assert norms == " gradient █▁× nan   weight ▁█ 2"
    assert alert == " 2 alerts: dead_relu in run #3, step/Relu:0: Relu gave all 0"
    assert _rows(view, 3.0, columns=30)[3] == " 2 alerts: dead_relu in run …"
    debugger.beside = Observations(tuple(alerts[1:]))
    assert "\x1b" not in _rows(view, 4.0)[3]


def test_a_prompt_has_the_whole_terminal() -> None:
    bottom = Bottom()
    view = LiveView(bottom, norms=False, alerts=False)
    with view.hidden():
        assert bottom.given_back == 1
    view.end()
    assert bottom.given_back == 2
