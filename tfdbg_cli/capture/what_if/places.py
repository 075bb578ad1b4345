"""Where a tensor of a run is made: at the top of the flat function, or within the turns of one of its nodes."""

from __future__ import annotations

from tfdbg_cli.capture.functions.definition.flat import FlatFunction
from tfdbg_cli.model.names import TensorName


class Places:
    """The branches, loops and compiled calls of a flat function, by the folders of what is in them."""

    def __init__(self, flat: FlatFunction) -> None:
        self._nodes: dict[str, str] = {}
        for node in flat.nodes.values():
            for scope in () if node.site is None else node.site.scopes:
                self._nodes[scope.path] = node.name

    def of(self, name: TensorName) -> str:
        """The node in which `name` is made; empty when it is made by a node of the flat function itself."""
        at = name.node.find("/")
        while at >= 0:
            node = self._nodes.get(name.node[:at])
            if node is not None:
                return node
            at = name.node.find("/", at + 1)
        return ""
