"""What gets built and installed: the wheel, the `tfdbg` program, the targets of the Makefile."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.package_source import PROJECT

from tfdbg_cli.version import __version__


def _run(*words: str, cwd: Path = PROJECT) -> str:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy so that the checkout stays clean."""
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    source.mkdir()
    for name in ("setup.cfg", "setup.py", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, source)
    shutil.copytree(PROJECT / "tfdbg_cli", source / "tfdbg_cli", ignore=shutil.ignore_patterns("__pycache__"))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps")
    _run(*pip, "--no-build-isolation", "--no-index", "--wheel-dir", str(place), ".", cwd=source)
    return zipfile.ZipFile(next(place.glob("*.whl")))


def test_the_wheel_holds_every_module_and_the_data(wheel: zipfile.ZipFile) -> None:
    """TensorFlow's tfdbg: the examples were missing from the wheel."""
    files = set(wheel.namelist())
    expected = {str(path.relative_to(PROJECT)) for path in (PROJECT / "tfdbg_cli").rglob("*.py")}
    expected |= {"tfdbg_cli/py.typed", "tfdbg_cli/examples/data/digits.npz", "tfdbg_cli/examples/data/README.md"}
    assert expected - files == set()
    assert not [name for name in files if name.startswith(("tests/", "tools/", "bench/"))]


def test_the_wheel_names_its_program_licence_and_extras(wheel: zipfile.ZipFile) -> None:
    about = f"tfdbg_cli-{__version__}.dist-info/"
    assert b"tfdbg = tfdbg_cli.cli.main:main" in wheel.read(about + "entry_points.txt")
    metadata = wheel.read(about + "METADATA").decode()
    assert "License-Expression: Apache-2.0" in metadata or "License: Apache-2.0" in metadata
    assert "Provides-Extra: tensorflow" in metadata
    required = re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", metadata, re.MULTILINE)
    assert "tensorflow" not in required
    assert {"numpy", "urwid", "pygments"} <= {name.lower() for name in required}
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


def test_python_versions_agree() -> None:
    config = configparser.ConfigParser()
    config.read(PROJECT / "setup.cfg", encoding="utf-8")
    assert config["options"]["python_requires"] == ">=3.11"
    assert config["mypy"]["python_version"] == "3.11"
    assert 'target-version = "py311"' in (PROJECT / "ruff.toml").read_text(encoding="utf-8")


def test_the_program_says_its_version() -> None:
    assert _run(sys.executable, "-m", "tfdbg_cli", "--version").strip() == f"tfdbg {__version__}"


def test_the_matrix_reaches_down_to_what_is_claimed() -> None:
    """Floors that nobody tries are guesses; and an ml_dtypes that the oldest TensorFlow does not take, a lie."""
    config = configparser.ConfigParser()
    config.read(PROJECT / "setup.cfg", encoding="utf-8")
    extras = config["options.extras_require"]
    required = config["options"]["install_requires"].split()
    text = (PROJECT / "Makefile").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^MATRIX \?= (.+)$", text, re.MULTILINE)
    pairs = [pair.split("-") for pair in listed.split()]
    floor = min((pair[0] for pair in pairs), key=lambda name: tuple(map(int, name.split("."))))
    assert extras["tensorflow"].split() == [f"tensorflow>={floor}"]
    assert f"numpy>={min(pair[1] for pair in pairs)}" in required
    assert {pair[0] for pair in pairs} == {"2.16", "2.18", "2.20", "2.21"}
    assert {pair[1] for pair in pairs} == {"1.26", "2"}
    # TensorFlow 2.16 requires ml-dtypes~=0.3.1.
    assert "ml_dtypes>=0.3.1" in required
    assert ".venv-matrix" in (PROJECT / ".gitignore").read_text(encoding="utf-8").split()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_every_target_of_the_makefile_is_explained() -> None:
    text = (PROJECT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    helped = re.findall(r"^  make ([\w-]+)", _run("make", "--no-print-directory", "help"), re.MULTILINE)
    assert sorted(helped) == sorted(phony.split())


def test_continuous_integration_runs_what_people_run() -> None:
    script = (PROJECT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.splitlines()[-1] == "make test"
    assert "set -e" in script
