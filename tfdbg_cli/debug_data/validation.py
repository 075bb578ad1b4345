"""Whether tensors and graphs of a dump agree."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.debug_data.partition_graphs import PartitionGraphs
from tfdbg_cli.formats.dumps.listing import DumpFile
from tfdbg_cli.formats.dumps.misfits import contradictions, strangers


def validate_dump(files: Sequence[DumpFile], graphs: PartitionGraphs) -> None:
    """Hold the dumps, in order of time, against the graphs of those devices whose graph is known.

    Raises:
        ValueError: a dumped node is not in the graph of its device, or was dumped before one of its inputs.

    """
    strange = strangers(files, graphs.graph, graphs.by_device.keys())
    if strange:
        device, node = min(strange)
        raise ValueError(f"Node name '{node}' is not found in partition graphs of device {device}.")
    for file, read in contradictions(files, graphs.graph):
        raise ValueError(
            f"Causality violated in timing relations of debug dumps: {file.node} ({file.time_us}): this input is "
            f"not satisfied: {read}. The order of the tensors may not be that of execution; validate=False reads "
            "the dump as it is."
        )
