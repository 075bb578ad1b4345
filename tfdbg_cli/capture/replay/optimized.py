"""Calls made again by what the graph optimizer made of the program's own function, as far as that can be.

A function that returns all its values is compiled anew, and the optimizer takes twice as long for it as for the plain
one. If it is known what the optimizer made of the plain one (a call was watched, or is about to be made for the first
time), the outputs are added to that (`functions/optimized/grafted.py`): the replay runs exactly the program's ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfdbg_cli.capture.functions.calling.instrumented import CallResult, Instrumented
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.optimized.compiled import Compiled
from tfdbg_cli.capture.replay.registered import refusals
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.model.names import TensorName


class OptimizedFunction:
    """The function of `root` with all its values; takes the inputs, and returns the outputs, of its replayed part.

    Raises:
        TfdbgError: TensorFlow does not take the function.

    """

    def __init__(
        self, root: Scope, plain: Compiled, takes: Sequence[TensorName], gives: Sequence[TensorName]
    ) -> None:
        """Put what gives the values onto `plain`, what the runtime makes of the function.

        The part takes `takes`, all arguments of the function in any order. It gives `gives`, first the outputs of the
        function, each once.
        """
        places = {name: at for at, name in enumerate(takes)}
        self._arguments = [places[root.argument_tensor(at)] for at in range(len(root.argument_names))]
        returned = {root.resolve(text): at for at, text in enumerate(root.body.returns)}
        self._returns = [returned[name] for name in gives if name in returned]
        with own_ops(), refusals():
            self._instrumented = Instrumented(root, wanted=WantedRewrite.all_values(root), onto=plain.optimized)

    def perform(self, inputs: Sequence[EagerTensor], room: int | None) -> CallResult:
        """Call the function; see `ReadyFunction.perform`."""
        with own_ops(), refusals():
            outcome = self._instrumented.perform([inputs[at] for at in self._arguments], room)
        outputs = outcome.outputs and tuple(outcome.outputs[at] for at in self._returns)
        return replace(outcome, outputs=outputs)
