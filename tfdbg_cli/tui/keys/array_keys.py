"""The keys of the array viewer, as data. What they do is in `array_pane`."""

from __future__ import annotations

from tfdbg_cli.commands.registry import WITH_TENSORS
from tfdbg_cli.tui.keys.keymap import Binding, KeyContext

_ROWS = (
    (("v", "enter"), "pane:text", "the whole value as text, from this element on", "text"),
    (("] n",), "pane:next-nonfinite", "next NaN or infinity", "next NaN"),
    (("/",), "ui:search", "look for numbers: nan, inf, -inf, 0.5, >1e4, !=0", "look for"),
    (
        (">",),
        "pane:step",
        "one step along the axis of the head; of a matrix: what was made of it",
        "step",
    ),
    (("x",), "pane:swap", "swap rows and columns", "swap"),
    (("1",), "pane:numbers", "the numbers", "numbers"),
    (("2",), "pane:heatmap", "a heatmap: a cell an element", "heatmap"),
    (("3",), "pane:picture", "a picture of the whole plane", "picture"),
    (("4",), "pane:histogram", "a histogram of the plane", "histogram"),
    (("5",), "pane:line", "this row as a curve", "curve"),
    (("6",), "pane:health", "the health of each row of the batch: NaN, infinities, zeros", "health"),
    (("?",), "ui:keys", "show the keys; Enter runs one", "keys"),
    (("esc",), "ui:escape", "end the search, else go back", "back"),
    (("<",), "pane:step-back", "one step back along the axis of the head; of a matrix: what it was made from", ""),
    (("a", "tab"), "pane:axis", "step along the next axis that is not shown", ""),
    (("shift tab",), "pane:axis-back", "step along the axis before", ""),
    (("X",), "pane:turn", "show the next two axes", ""),
    (("[ n",), "pane:previous-nonfinite", "the NaN or infinity before", ""),
    (("}",), "pane:maximum", "next maximum: the greatest finite element", ""),
    (("{",), "pane:minimum", "next minimum: the least finite element", ""),
    (("n",), "ui:next-match", "next element that was looked for", ""),
    (("N",), "ui:previous-match", "element before that was looked for", ""),
    (("@",), "ui:element", "go to an element, such as @[3, 17, 4, 0]", ""),
    (("j", "down"), "pane:down", "a row down", ""),
    (("k", "up"), "pane:up", "a row up", ""),
    (("l", "right"), "pane:right", "a column to the right", ""),
    (("h", "left"), "pane:left", "a column to the left", ""),
    (("ctrl f", "page down", " "), "pane:page-down", "one page down", ""),
    (("ctrl b", "page up"), "pane:page-up", "one page up", ""),
    (("ctrl d", "d"), "pane:half-down", "half a page down", ""),
    (("ctrl u", "u"), "pane:half-up", "half a page up", ""),
    (("H",), "pane:first-in-sight", "first row in sight", ""),
    (("M",), "pane:middle-in-sight", "the row in the middle", ""),
    (("L",), "pane:last-in-sight", "last row in sight", ""),
    (("g",), "pane:top", "first row", ""),
    (("G",), "pane:bottom", "last row", ""),
    (("0", "home"), "pane:first", "first column", ""),
    (("$", "end"), "pane:last", "last column", ""),
    (("+",), "pane:finer", "a digit more behind the point", ""),
    (("-",), "pane:coarser", "a digit fewer", ""),
    (("e",), "pane:scientific", "scientific notation on or off", ""),
    (("s",), "pane:suppress", "suppress exponents of small numbers, or not", ""),
    (("#",), "pane:threshold", "above the threshold of elements only the ends of the axes, or all", ""),
    (("y",), "pane:copy", "copy the element to the clipboard", ""),
    (("Y",), "pane:copy-place", "copy name and index of the element", ""),
)

ARRAY_BINDINGS: tuple[Binding, ...] = (
    *(Binding(KeyContext.DOCUMENT, *row) for row in _ROWS),
    Binding(
        KeyContext.DOCUMENT,
        ("=",),
        "pane:set",
        "another value for this element, which `again` computes with",
        moments=WITH_TENSORS,
    ),
    Binding(KeyContext.DOCUMENT, ("[ [",), "older", "the same array of the run before", moments=WITH_TENSORS),
    Binding(KeyContext.DOCUMENT, ("] ]",), "newer", "the same array of the run after", moments=WITH_TENSORS),
    Binding(
        KeyContext.DOCUMENT, ("[ {",), "older --same", "of the run of this function before", moments=WITH_TENSORS
    ),
    Binding(KeyContext.DOCUMENT, ("] }",), "newer --same", "of the run of this function after", moments=WITH_TENSORS),
)
