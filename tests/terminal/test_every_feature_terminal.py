"""What no other scenario in a pseudo terminal presses: a tour of the lists and the graph, and one of the values."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_tui_terminal import Host

pytestmark = pytest.mark.terminal
GROUNDS = {  # of the chosen row in each theme, as pyte names them
    "light": "e4e4e4", "contrast": "000087", "mono": "default", "ascii": "default", "dark": "303030",
}  # fmt: skip


def test_lists_and_the_graph(tmp_path: Path) -> None:
    host = Host(tmp_path, "filter", env={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    host.walked(
        ("d", "Enter: pt spectrum:0"),
        ("u", "Enter: pt x:0"),
        ("fop=Relu", "1 of 20 rows"),
        ("<esc>", "Enter: pt x:0"),
        ("/loss/mul<enter>", "/loss/mul  1/1"),
        ("s", "› lt -r"),
    )
    host.wait("Enter: pt loss/mul:0")  # sorting keeps the row
    host.walked(
        (":queries sick 'nan>0'<enter>", "› queries sick"),
        (":lt<enter>", "Enter: pt x:0"),
        ("f@sick", "3 of 20 rows"),
        ("<enter>", "› lt -q @sick"),
        (":fq op -q 'nan>0'<enter>", "› fq op -q"),
        ("A", "› layers"),
        ("/loss<enter>", "/loss  1/1"),
        ("I", "› ignore --layer loss"),
        ("O", "› tree"),
        ("/dense<enter>", "/dense  1/1"),
        ("x", "- dense"),
        ("x", "+ dense"),
        (":li -r loss/Mean<enter>", "Inputs of node loss/Mean"),
        ("jj<enter>", "› ni -d -t loss/mul"),
        ("<lt>", "› li loss/mul"),
        (":ignored<enter>", "› ignored"),
        ("<ctrl p>list_tens", "command  list_tensors, lt  t"),  # with its key
        ("<ctrl u>losslog", "Log float32[4,2] -inf×2"),  # with its health
    )
    host.send("<esc>")
    host.wait(lambda: "Find" not in host.text())
    host.left()


def test_values_as_text_in_the_viewer_and_in_every_theme(tmp_path: Path) -> None:
    host = Host(tmp_path, "filter", env={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    host.walked(
        (":pt -a loss/Log<enter>", "dtype float32"),
        ("@3, 1]<enter>", "@[3, 0]"),
        ("<enter>", "loss/Log:0 [:, :]"),  # on a value
        ("/>2<enter>", "[3, 1]  2.94"),
        ("n", "[1, 1]  2.56"),
        ("N", "[3, 1]  2.94"),
        (":pt names<enter>", "dtype string"),
        ("v", "names:0 [:]"),
        ("jj", "[2]  "),
        (":pt spectrum<enter>", "dtype complex64"),
        ("v2", "heatmap of magnitudes"),
        (":pt big<enter>", "5,000"),
        ("#", "…"),
        ("$", "[0, 99]"),
        (":lt<enter>", "Enter: pt x:0"),
    )
    for theme, ground in GROUNDS.items():
        host.walked((f":config set theme {theme}<enter>", f"theme    {theme}"), ("<esc>", "Enter: pt x:0"))
        row = next(n for n, text in enumerate(host.screen.display) if "x:0" in text and "Placeholder" in text)
        assert host.screen.buffer[row][30].bg == ground
        assert host.text().isascii() is (theme == "ascii")
    host.left()
