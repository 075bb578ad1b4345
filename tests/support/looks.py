"""A screen written down with its looks, to be agreed to."""

from __future__ import annotations

import string

from support.screen import Driven


def frame_with_looks(screen: Driven, size: tuple[int, int], colors: int) -> str:
    """The screen as it is now, written down by `written`."""
    screen.screen.canvases.append(screen.app.view.render(size, focus=True))
    return written(screen, colors)


def written(screen: Driven, colors: int) -> str:
    """Each row of the last frame, the letters of its looks below it, and what the letters mean."""
    letters: dict[str, str] = {}
    rows: list[str] = []
    for runs in screen.looks(colors):
        looks = []
        for spec, text in runs:
            look = f"{spec.foreground} on {spec.background}"
            letter = letters.setdefault(look, _letter(len(letters)))
            looks.append(letter * len(text))
        rows += ["|" + "".join(text for _, text in runs).rstrip(), ":" + "".join(looks)]
    meanings = [f"{letter} = {look}" for look, letter in letters.items()]
    return "\n".join([*rows, *meanings, f"cursor {screen.screen.canvases[-1].cursor}"])


def _letter(number: int) -> str:
    letters = string.ascii_letters + string.digits + string.punctuation
    return letters[number] if number < len(letters) else chr(0xC0 + number)
