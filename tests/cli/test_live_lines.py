"""`--live` where there is no terminal for it."""

from __future__ import annotations

import pytest

from tfdbg_cli.cli.main import main


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_it_needs_a_terminal(term, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("os.isatty", lambda descriptor: False)
    (tmp_path / "x.py").write_text("")
    assert main(["run", "--live", "x.py"]) == 1
    assert "--live draws on a terminal, and neither standard error nor output is one." in capsys.readouterr().err
