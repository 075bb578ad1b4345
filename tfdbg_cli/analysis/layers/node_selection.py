"""A selection of nodes as `--only` and `--layer` describe it: by a regex, by a layer, or by both."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tfdbg_cli.analysis.layers.layers import layers_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph


@dataclass(frozen=True, slots=True)
class NodeSelection:
    """The nodes in whose names the regex `only` is found, and that lie in `layer`; what is empty asks nothing.

    With `none` there are no such nodes.
    """

    only: str = ""
    layer: str = ""
    none: bool = False

    def check(self) -> None:
        """Refuse what nobody can search for.

        Raises:
            TfdbgError: the regex cannot be read.

        """
        try:
            re.compile(self.only)
        except re.error as error:
            raise TfdbgError(f"Cannot read the regex {self.only!r}: {error}.") from None

    def tester(self, graph: Graph) -> Callable[[str], bool]:
        """A test for the names of nodes of `graph`."""
        if self.none:
            return lambda node: False
        pattern, within = re.compile(self.only), self._within(graph)
        return lambda node: bool(pattern.search(node)) and within(node)

    def _within(self, graph: Graph) -> Callable[[str], bool]:
        if not self.layer:
            return lambda node: True
        layers = layers_of(graph)
        try:
            return layers.tester(layers.resolve(self.layer))
        except TfdbgError:
            return lambda node: False  # a run of other code has no such layer
