"""The pages tell the truth: their links lead somewhere, and what they name exists."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from PIL import Image
from support.package_source import PACKAGE, PROJECT

import tfdbg_cli

sys.path.insert(0, str(PROJECT / "tools"))
from stories import STORIES

PAGES = [
    *(PROJECT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")),
    *sorted((PROJECT / "docs").glob("*.md")),
]
PICTURES = sorted((PROJECT / "docs" / "images").glob("*"))


def _links(page: Path) -> list[str]:
    return re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_inside_the_project_lead_somewhere(page: Path) -> None:
    inside = [link for link in _links(page) if "://" not in link]
    assert [link for link in inside if not (page.parent / link).exists()] == []


def test_every_picture_is_on_a_page() -> None:
    shown = {(page.parent / link).resolve() for page in PAGES for link in _links(page) if "://" not in link}
    assert [picture.name for picture in PICTURES if picture.resolve() not in shown] == []
    assert PICTURES


def test_every_picture_is_drawn_by_a_story_and_shows_what_it_waits_for() -> None:
    told = {f"{step.picture}.png": step.shows for story in STORIES for step in story.steps if step.picture}
    assert sorted(told) == [picture.name for picture in PICTURES]
    for picture in PICTURES:
        with Image.open(picture) as drawn:
            assert told[picture.name] in drawn.text["Screen"], picture.name


def test_no_page_shows_a_picture_that_no_story_draws() -> None:
    kinds = (".png", ".svg", ".gif", ".jpg", ".jpeg", ".webp")
    shown = {(page.parent / link).resolve() for page in PAGES for link in _links(page) if link.endswith(kinds)}
    assert shown == {picture.resolve() for picture in PICTURES}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_names_of_the_api_exist(page: Path) -> None:
    named = set(re.findall(r"tf_debug\.(\w+)", page.read_text(encoding="utf-8")))
    assert named <= set(tfdbg_cli.__all__)


def test_the_index_lists_every_example() -> None:
    helpers = {"__init__", "digits", "flags"}
    examples = {path.stem for path in (PACKAGE / "examples").glob("*.py")} - helpers
    listed = re.findall(r"^\| `(\w+)` \|", (PROJECT / "docs" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(examples)


def test_the_page_of_debugger_v2_names_the_line_of_the_bug() -> None:
    source = (PACKAGE / "examples" / "mlp_v2.py").read_text(encoding="utf-8").splitlines()
    line = next(number for number, row in enumerate(source, 1) if "tf.math.log(" in row)
    page = (PROJECT / "docs" / "debugger_v2.md").read_text(encoding="utf-8")
    assert f"line {line} of the program" in page and f"▸ {line} " in page


@pytest.mark.parametrize(
    ("example", "text"), [("keras_fit", "tf.reshape(weighted / total"), ("classifier", "tf.log(")]
)
def test_the_tutorial_names_the_lines_of_the_bugs(example: str, text: str) -> None:
    source = (PACKAGE / "examples" / f"{example}.py").read_text(encoding="utf-8").splitlines()
    line = next(number for number, row in enumerate(source, 1) if text in row)
    tutorial = (PROJECT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert f"line {line} of the program" in tutorial
    if example == "keras_fit":
        assert f'"line": {line},' in tutorial


def test_the_readme_shows_the_screen_and_the_two_commands_first() -> None:
    first = "\n".join((PROJECT / "README.md").read_text(encoding="utf-8").splitlines()[:14])
    assert "](docs/images/origin.png)" in first
    assert "make demo" in first
    assert "make test" in first


@pytest.mark.parametrize("page", ["docs/design.md", "CONTRIBUTING.md"])
def test_the_files_that_a_page_names_exist(page: str) -> None:
    named = set(re.findall(r"`([a-z_/\d]+/[a-z_\d]+\.(?:py|md))`", (PROJECT / page).read_text(encoding="utf-8")))
    assert named
    places = (PROJECT, PACKAGE, PACKAGE / "capture", PACKAGE / "analysis")
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []


def test_the_recipes_name_files_by_their_whole_paths() -> None:
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:tfdbg_cli|tests|docs)/[a-z\d_/]+\.\w+)`", text))
    assert named
    assert [name for name in sorted(named) if not (PROJECT / name).exists()] == []
