"""`list_profile`, and `print_source` after `run -p`."""

from __future__ import annotations

import pytest
from support import sample_run
from support.golden import check_golden
from support.prompt import Prompt, ask, follow_all, json_of, links_of, text_of

from tfdbg_cli.commands.asked.intervals import time_interval
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.runs import Run

PROFILE = Profile(
    (
        NodeTime("x", "Placeholder", sample_run.CPU0, 0, 1, 2),
        NodeTime("dense/MatMul", "MatMul", sample_run.CPU0, 10, 1000, 1200),
        NodeTime("loss/Log", "Log", sample_run.CPU0, 1300, 10, 15),
        NodeTime("loss/Log", "Log", sample_run.CPU0, 1350, 20, 25),
        NodeTime("loss/mul", "Mul", sample_run.CPU0, 1400, 500, 600),
        NodeTime("grad/unique", "Unique", sample_run.CPU1, 60, 5, 7),
    )
)


def _profiled() -> Run:
    return sample_run.sample_run(profile=PROFILE)


def test_screens() -> None:
    check_golden("commands/lp", text_of("lp", _profiled()))
    check_golden(
        "commands/lp_sorted", text_of("lp -s exec_time -r --time_unit us -t 'Mat|Log'", _profiled(), width=100)
    )
    check_golden("commands/ps_profile", text_of("ps train.py", _profiled(), width=100))


def test_defect_column_sort_drops_profile_filters() -> None:
    """TensorFlow's tfdbg: following a heading of `lp` forgets the filters."""
    flags = "-d CPU:0 -n . -t Log -f train --min_lineno 1 --max_lineno 99 -e >=1us -o <1s --time_unit ms"
    links = links_of(f"lp {flags}", _profiled())
    for flag in flags.replace(" -", "\n-").split("\n"):
        assert flag.split()[0] in links["Exec time"] and flag.split()[1] in links["Exec time"]
    assert "-s exec_time" in links["Exec time"]
    before, after = (json_of(command, _profiled())["devices"] for command in (f"lp {flags}", links["Exec time"]))
    assert [d["device"] for d in before] == [d["device"] for d in after] and len(before[0]["executions"]) == 2


def test_a_heading_puts_the_longest_on_top_and_followed_twice_turns_the_order_round() -> None:
    once = links_of("lp", _profiled())["Op time"]
    twice = links_of(once, _profiled())["Op time▼"]
    nodes = [
        [e["node"] for e in json_of(command, _profiled())["devices"][0]["executions"]] for command in (once, twice)
    ]
    assert nodes[1] == ["x", "loss/Log", "loss/Log", "loss/mul", "dense/MatMul"] and nodes[0] == nodes[1][::-1]


def test_the_page_says_what_it_is_sorted_by_and_leads_to_what_takes_long() -> None:
    """A blind test: no head was marked, and nothing told that there are sums by layer."""
    assert "Start▲" in links_of("lp", _profiled()) and "Op time▲" in links_of("lp -s op_time", _profiled())
    links = links_of("lp -n loss", _profiled())
    assert (
        links["slowest first"].startswith("lp") and "-r" in links["slowest first"] and "loss" in links["--by layer"]
    )
    first = json_of(links["slowest first"], _profiled())["devices"][0]["executions"]
    assert first[0]["op_us"] == max(one["op_us"] for one in first)


@pytest.mark.parametrize("key", ["node", "op_type", "start_time", "op_time", "exec_time", "line"])
def test_every_sort_key(key: str) -> None:
    executions = json_of(f"lp -s {key} -d CPU:0", _profiled())["devices"][0]["executions"]
    names = {"start_time": "start_us", "op_time": "op_us", "exec_time": "exec_us"}
    values = [e[names.get(key, key)] for e in executions]
    assert values == sorted(values)


def test_filters() -> None:
    def nodes(flags: str) -> list[str]:
        return [e["node"] for d in json_of(f"lp {flags}", _profiled())["devices"] for e in d["executions"]]

    assert nodes("-e <20us -d CPU:0") == ["x", "loss/Log"]
    assert nodes("-o [10us,0.5ms)") == ["loss/Log", "loss/Log"]
    assert nodes("--min_lineno 8 --max_lineno 9") == ["loss/Log", "loss/Log", "loss/mul"]
    assert nodes("-n og$") == ["loss/Log", "loss/Log"]
    assert "No op passes" in text_of("lp -n zzz", _profiled())


def test_totals() -> None:
    (first, second) = json_of("lp", _profiled())["devices"]
    assert (first["op_us"], first["exec_us"], second["exec_us"]) == (1531, 1842, 7)


def test_a_line_leads_to_its_source_and_back() -> None:
    assert links_of("lp", _profiled())["train.py:6(<module>)"] == "ps /home/ada/train.py -b 6"
    link = links_of("ps train.py", _profiled())["2(3)"]
    found = [e["node"] for e in json_of(link, _profiled())["devices"][0]["executions"]]
    assert found == ["loss/Log", "loss/Log", "loss/mul"]


@pytest.mark.parametrize(
    "command", ["lp", "lp -s line -r --time_unit ms", "ps train.py", "ps train.py -t Log -n loss -d CPU"]
)
def test_every_link_leads_somewhere(command: str) -> None:
    assert follow_all(command, _profiled()) > 0


def test_cost_of_source_lines() -> None:
    def costs(flags: str) -> dict[int, float]:
        lines = json_of(f"ps train.py {flags}", _profiled())["lines"]
        return {item["line"]: item["cost_us"] for item in lines if item["cost_us"] is not None}

    assert costs("") == {3: 2, 6: 1200, 8: 640}
    assert costs("--cost_type op_time -t Log") == {8: 30}
    assert costs("-n Mat -d CPU:1") == {}


def test_without_a_profile() -> None:
    with pytest.raises(TfdbgError, match=r"not profiled. `run -p`"):
        ask("lp", sample_run.sample_run())
    recording = Prompt(sample_run.opened())
    for command in ("lp", "ps train.py -n Mat"):
        assert recording.error(command).hint.startswith("Where the program runs, `run -p` ")


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("<100ms", [0, 99_999], [100_000]),
        ("<=2", [2], [2.1]),
        (">=2us", [2], [1.9]),
        ("> 2us", [3], [2]),
        ("[1us, 5ms)", [1, 4999], [0, 5000]),
        ("(1us,5us]", [5], [1, 6]),
        ("[,5us]", [0, 5], [6]),
        ("[5us,]", [5, 1e12], [4]),
        ("", [0, 1e12], []),
    ],
)
def test_intervals(text: str, inside: list[float], outside: list[float]) -> None:
    interval = time_interval(text)
    assert all(number in interval for number in inside) and not any(number in interval for number in outside)


@pytest.mark.parametrize("text", ["100ms", "<", "[1us]", "[5us,1us]", "<5h", "[a,b]", "<-1us"])
def test_not_intervals(text: str) -> None:
    with pytest.raises(TfdbgError, match=r"not an interval of time|is empty"):
        time_interval(text)


def test_times_are_in_sight_on_a_narrow_screen_however_long_names_are() -> None:
    name = "/".join(["a_scope_with_a_long_name"] * 4) + "/Log"
    times = (*PROFILE.times, NodeTime(name, "Log", sample_run.CPU0, 2000, 123_400, 567_800))
    row = next(
        row for row in text_of("lp", sample_run.sample_run(profile=Profile(times)), width=78).splitlines()
        if "568ms" in row
    )  # fmt: skip
    assert len(row) <= 78
    assert row.startswith("…")
    assert row.split()[0].endswith("/Log")
    assert row.split()[1:3] == ["123ms", "568ms"]


@pytest.mark.parametrize(
    ("by", "first", "count"),
    [
        ("op", ("dense/MatMul", 1, 1, 1000, 1200), 5),
        ("type", ("MatMul", 1, 1, 1000, 1200), 5),
        ("layer", ("dense", 1, 1, 1000, 1200), 4),
        ("line", ("/home/ada/train.py:6", 1, 1, 1000, 1200), 4),
        ("device", (sample_run.CPU0, 4, 5, 1531, 1842), 2),
    ],
)
def test_sums_by_what_ops_have_in_common(by: str, first: tuple[str, int, int, int, int], count: int) -> None:
    told = json_of(f"lp --by {by}", _profiled())
    groups = told["groups"]
    assert (told["kind"], told["by"], len(groups)) == ("profile", by, count)
    assert tuple(groups[0][key] for key in ("name", "nodes", "executions", "op_us", "exec_us")) == first
    assert [g["exec_us"] for g in groups] == sorted((g["exec_us"] for g in groups), reverse=True)
    assert sum(g["exec_us"] for g in groups) == 1849 and sum(g["share"] for g in groups) == pytest.approx(1)
    assert follow_all(f"lp --by {by}", _profiled())


def test_sums_keep_filters_and_lead_to_what_they_are_of() -> None:
    check_golden("commands/lp_by_line", text_of("lp --by line", _profiled()))
    links = links_of("lp --by type -e >=10us", _profiled())
    shown = json_of(links["Log"], _profiled())["devices"]
    assert [e["node"] for d in shown for e in d["executions"]] == ["loss/Log", "loss/Log"]
    assert json_of("lp --by op -r -q dense", _profiled())["groups"][0]["name"] == "dense/MatMul"
    by_op_time = json_of("lp --by op -s op_time", _profiled())["groups"]
    assert [g["op_us"] for g in by_op_time] == [1000, 500, 30, 5, 1]
    assert "No op passes" in text_of("lp --by type -n zzz", _profiled())
