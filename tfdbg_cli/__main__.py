"""`python -m tfdbg_cli`: the same as the program `tfdbg`."""

from __future__ import annotations

import sys

from tfdbg_cli.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
