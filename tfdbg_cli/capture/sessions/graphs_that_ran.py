"""The graphs that one run of a session consisted of, as the runtime made them."""

from __future__ import annotations

from tfdbg_cli.capture.tf import compat

v1 = compat.v1


class GraphsThatRan:
    """Collects the graphs that one run consists of: make it with these `options` and `metadata`."""

    def __init__(self) -> None:
        self.options = v1.RunOptions(output_partition_graphs=True)
        self.metadata = v1.RunMetadata()
