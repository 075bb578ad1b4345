"""Looks at a program just before it first uses its variables: nothing of that run happens yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tfdbg_cli.analysis.variables.listing import variables_of
from tfdbg_cli.capture.controller import PendingRun, Plan
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.intercept.all_sessions import intercept_all_sessions
from tfdbg_cli.capture.intercept.unattended import PassingController
from tfdbg_cli.capture.state.living_variables import living_variables
from tfdbg_cli.capture.tf.patching import replace_method
from tfdbg_cli.capture.tf.types import Method
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.restoring import ProgramVariable, ProgramVariables
from tfdbg_cli.model.runs import Run, RunStart
from tfdbg_cli.process.interruptions import our_errors

_GRADIENTS = ("gradient", "jacobian")
_RESTORES = ("restore", "read")


class FirstUse(PassingController):
    """Calls `look` with the program's variables before the first run that uses some, whatever thread makes it.

    Where they cannot be found it calls `fail` with the reason. Neither comes back: the program does not go on.

    Code that runs eagerly makes no runs: there it is before the second gradient, as an optimizer makes its variables
    in the first step. The objects by which the program restored are kept from then on.
    """

    def __init__(self, look: Callable[[ProgramVariables], None], fail: Callable[[Exception], None]) -> None:
        super().__init__(None, Settings())
        self._look = look
        self._fail = fail
        self._gradients = 0
        self._restored: list[Any] = []
        self._roots: dict[int, Any] = {}  # by the identity of a tf.train.Checkpoint

    def begin(self) -> None:
        """Intercept runs, gradients and restoring. It is never taken back: the process ends after the look."""
        intercept_all_sessions(self)
        intercept_all_functions(self)
        for name in _GRADIENTS:
            replace_method(tf.GradientTape, name, self._before_gradient)
        replace_method(tf.train.Checkpoint, "__init__", self._making)
        for name in _RESTORES:
            replace_method(tf.train.Checkpoint, name, self._before_restoring)

    def run_starts(self, pending: PendingRun) -> Plan:
        """Look, if the run uses variables, else leave it alone. See `controller.Controller`."""
        number = self.count_run()
        try:
            found = self._used_by(pending.start(number))
        except our_errors() as error:  # whoever calls us would leave the run alone
            self._fail(error)
        else:
            if found is not None:
                self._look(found)
        return Plan(number)

    def _used_by(self, start: RunStart) -> ProgramVariables | None:
        """The variables of the program where the run uses some."""
        used = variables_of(Run(start.call, graph=start.graph, variables=start.variables))
        moment = f"before {start.call.title}"
        if not start.call.kind.of_session:
            return self.now(moment) if used else None
        told = [ProgramVariable(one.name, one.dtype, one.shape) for one in used]
        return ProgramVariables(moment, told) if told else None

    def now(self, moment: str) -> ProgramVariables:
        """The variables that the program has now."""
        return living_variables(moment, self._restored, self._roots)

    def _before_gradient(self, original: Method) -> Method:
        def call(*arguments: Any, **keywords: Any) -> Any:
            if tf.executing_eagerly():
                self._gradients += 1
                if self._gradients == 2:
                    self._look(self.now("before the second gradient of its eager code"))
            return original(*arguments, **keywords)

        return call

    def _making(self, original: Method) -> Method:
        def call(checkpoint: Any, root: Any = None, **keywords: Any) -> Any:
            self._roots[id(checkpoint)] = root
            return original(checkpoint, root, **keywords)

        return call

    def _before_restoring(self, original: Method) -> Method:
        def call(checkpoint: Any, *arguments: Any, **keywords: Any) -> Any:
            if all(one is not checkpoint for one in self._restored):
                self._restored.append(checkpoint)
            return original(checkpoint, *arguments, **keywords)

        return call
