"""Small programs with the classic bugs: `python -m tfdbg_cli.examples.NAME`."""
