"""What an array holds, in one line and in a small table."""

from __future__ import annotations

import math
from dataclasses import fields

from tfdbg_cli.document.array_words import is_text, text_word
from tfdbg_cli.document.cells import clip, display_width, pad
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.statistics import Summary, summarize
from tfdbg_cli.model.units import count_text, shape_text
from tfdbg_cli.model.values import Array, NoValue, Value

_TEXTS = 40  # columns for the texts of a chip


def number_text(number: float | None) -> str:
    """`number` with four significant digits, an int with all of them; `–` for None."""
    return "–" if number is None else str(number) if isinstance(number, int) else f"{number:.4g}"


def number_span(value: float) -> Span:
    """A number, told apart where it is not finite."""
    style = Style.NAN if math.isnan(value) else Style.INF if math.isinf(value) else Style.NUMBER
    return Span(number_text(value), style)


def nonfinite_style(summary: Summary) -> Style:
    """The style of a text that says what is not finite: an infinity alone has its own."""
    return Style.NAN if summary.nan or summary.spoiled else Style.INF


def chip(value: Value, dtype: str, summary: Summary | None = None) -> Line:
    """An array in one line, in the manner of lovely-tensors: float32[3,196] n=588 x∈[-2.1, 2.6] μ=-0.4 σ=1.1 NaN×3.

    A scalar shows its value, an array of constants says so, texts are shown as far as a line holds them. `summary`
    saves computing it again, and stands for a value that there is none of.
    """
    if isinstance(value, NoValue):
        lack = [Span(value.lack.value, Style.WARNING)]
        return line(Span(dtype, Style.LABEL), " ", *(lack if summary is None else facts_line(summary).spans))
    head = Span(f"{dtype}{shape_text(value.shape)}" if value.ndim else dtype, Style.LABEL)
    facts = facts_line(summary or summarize(value), counted=value.ndim > 0)
    texts = f" {_texts(value)}" if is_text(value) and value.size else ""
    return line(head, *([" "] if facts.spans else []), *facts.spans, texts)


def _texts(value: Array) -> str:
    """The first elements of texts, with an ellipsis where there is no room for more."""
    shown = ""
    for at, item in enumerate(value.flat):
        word = f"{', ' if at else ''}{text_word(item, shorten=True)}"
        if display_width(shown + word) > _TEXTS:
            return f"{shown}, …" if shown else clip(word, _TEXTS)
        shown += word
    return shown


def facts_line(facts: Summary, *, counted: bool = True) -> Line:
    """The numbers of a chip: n=588 x∈[-2.1, 2.6] μ=-0.4 σ=1.1 NaN×3."""
    sized = counted and "size" not in facts.unknown
    spans: list[Span] = [Span(f"n={facts.size:,}", Style.NUMBER)] if sized else []
    if facts.min is not None and facts.max is not None:
        name = "|x|" if facts.of_magnitude else "x"
        if facts.min == facts.max:
            every = "" if facts.nonfinite or facts.size == 1 else "all "
            spans.append(Span(f"{every}{name}={number_text(facts.min)}", Style.NUMBER))
        else:
            spans.append(Span(f"{name}∈[{number_text(facts.min)}, {number_text(facts.max)}]", Style.NUMBER))
            spans.append(Span(f"μ={number_text(facts.mean)} σ={number_text(facts.std)}", Style.NUMBER))
    for count, label, style in (
        (facts.nan, "NaN", Style.NAN),
        (facts.neg_inf, "-inf", Style.INF),
        (facts.pos_inf, "inf" if facts.of_magnitude else "+inf", Style.INF),
    ):
        if count:
            spans.append(Span(f"{label}×{count:,}", style))
    if facts.spoiled:
        spans.append(Span("NaN or inf", Style.NAN))
    elif not facts.tells_nonfinite:
        spans.append(Span("NaN and inf not recorded", Style.WARNING))
    spaced = [part for span in spans for part in (" ", span)]
    return line(*spaced[1:])


def summary_data(summary: Summary | None) -> dict[str, int | float | None] | None:
    """The JSON form of a summary, as docs/commands.md fixes it."""
    if summary is None:
        return None
    names = ("size", "nan", "neg_inf", "pos_inf", "neg", "zero", "pos", "min", "max", "mean", "std")
    return {name: summary.told(name) for name in names}


def summary_lines(summary: Summary, *, boolean: bool = False) -> tuple[Line, ...]:
    """The counts by sign and the moments as two small tables; zero counts are left out."""
    if summary.unknown:
        missing = ", ".join(field.name for field in fields(summary) if field.name in summary.unknown)
        return (facts_line(summary), line(Span(f"Not recorded: {missing}.", Style.WARNING)))
    if boolean:
        counts = [("False", summary.zero, Style.NUMBER), ("True", summary.pos, Style.NUMBER)]
    else:
        positive = ("≠0", "|inf|") if summary.of_magnitude else ("+", "+inf")
        counts = [
            ("nan", summary.nan, Style.NAN),
            ("-inf", summary.neg_inf, Style.INF),
            ("-", summary.neg, Style.NUMBER),
            ("0", summary.zero, Style.NUMBER),
            (positive[0], summary.pos, Style.NUMBER),
            (positive[1], summary.pos_inf, Style.INF),
        ]
    counted = [(name, f"{count:,}", style) for name, count, style in counts if count]
    lines = list(_grid([*counted, ("total", f"{summary.size:,}", Style.NUMBER)])) if counted or boolean else []
    if not lines:
        return (line(f"{count_text(summary.size, 'element')}; no numbers to summarize."),)
    if boolean:
        return tuple(lines)
    of = " of the magnitude" if summary.of_magnitude else ""
    moments = [(name, number_text(getattr(summary, name)), Style.NUMBER) for name in ("min", "max", "mean", "std")]
    if summary.min is None:
        return (*lines, line(Span("No finite element.", Style.WARNING)))
    note = [line(Span(f"Over the finite elements{of}:", Style.DIM))] if of or summary.nonfinite else []
    return (*lines, *note, *_grid(moments))


def _grid(cells: list[tuple[str, str, Style]]) -> tuple[Line, Line]:
    heads: list[Span | str] = []
    values: list[Span | str] = []
    for name, text, style in cells:
        width = max(len(name), len(text))
        heads += ["  ", pad(name, width), Span(name, Style.HEADING)]
        values += ["  ", pad(text, width), Span(text, style)]
    return line(*[h for h in heads if h != ""]), line(*[v for v in values if v != ""])
