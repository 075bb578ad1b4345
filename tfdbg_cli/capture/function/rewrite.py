"""The rewriting of functions so that they give their inner values to us.

A value of a plain call becomes one more output of the called function and of the call's node. A branch or a loop
hands the values of each turn to a callback in this process (an EagerPyFunc op), as a side effect of the function.
Names of nodes stay, so that resources named after them are shared with the original.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

from tfdbg_cli.capture.function.body import XLA
from tfdbg_cli.capture.function.call_tree import CallKind, CallSite, Scope
from tfdbg_cli.capture.function.shown_values import Item, items_of
from tfdbg_cli.capture.session.invocation import copied

# Grappler exchanges functions that say so for others with the same outputs (implementation_selector.cc).
IMPLEMENTATION = frozenset({"api_implements", "api_preferred_device"})
_STATEFUL = {
    "PartitionedCall": "StatefulPartitionedCall",
    "StatelessIf": "If",
    "StatelessCase": "Case",
    "StatelessWhile": "While",
}
_SERIAL = itertools.count(1)
_OURS = re.compile(r"__tfdbg_\d+_\d+")
_INT32 = 3


def original_names(text: str) -> str:
    """`text` with the names of rewritten functions as they were."""
    return _OURS.sub("", text)


@dataclass(frozen=True, eq=False)
class Frame:
    """A branch, or the cond or body of a loop: each time it runs, its values reach the callback under `number`."""

    number: int
    scope: Scope
    items: tuple[Item, ...]


@dataclass
class Rewriting:
    """One function rewritten with all that it calls.

    `token` names the callback (as tf.py_function registers it); `without_xla` asks that nothing be compiled by XLA.
    Afterwards `definitions` holds the new functions,
    those that are called first, and `frames` the branches and loops. `compiled_no_more` says that some function was
    meant for XLA, which cannot call back; `compiled` that some function still is.
    """

    token: bytes
    without_xla: bool = False
    definitions: list[Any] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    compiled_no_more: bool = False
    compiled: bool = False
    _serial: int = field(default_factory=lambda: next(_SERIAL))
    _done: dict[tuple[object, ...], tuple[str, list[int]]] = field(default_factory=dict)

    def exposed(self, scope: Scope) -> tuple[str, list[int]]:
        """Rewrite the function of `scope` to give its values back behind its outputs: the new name, their types."""
        key = (scope.body.name, frozenset(scope.needed.slots.items()), scope.compiled)
        shareable = not scope.has_frames and not scope.cut
        if shareable and key in self._done:
            return self._done[key]
        edit = self._edited(scope)
        types: list[int] = []
        for item in items_of(scope):
            if item.shown is not None and item.reference is not None:
                edit.give_back(f"tfdbg_value_{len(types)}", item.shown.dtype, item.reference)
                types.append(item.shown.dtype)
        done = self._finish(edit), types
        if shareable:
            self._done[key] = done
        return done

    def _edited(self, scope: Scope) -> _Edit:
        """A copy of the function of `scope` that calls rewritten functions."""
        edit = _Edit(scope)
        for site in scope.calls.values():
            node = edit.nodes[site.node.name]
            if site.kind is CallKind.PLAIN:
                name, types = self.exposed(site.scopes[0])
                node.attr["f"].func.name = name
                node.attr["Tout"].list.type.extend(types)
                if self.without_xla and XLA in node.attr:
                    del node.attr[XLA]
                if not site.scopes[0].has_frames:
                    continue
            else:
                self._rewrite_frames(site, node)
            edit.make_stateful(node)
        if scope.compiled:
            edit.drop_checks()
        if scope.body.compiled:
            if scope.has_frames or self.without_xla:
                del edit.definition.attr[XLA]
                self.compiled_no_more = True
            else:
                self.compiled = True
        return edit

    def _rewrite_frames(self, site: CallSite, node: Any) -> None:
        names = [self._framed(scope) for scope in site.scopes]
        if "branches" in node.attr:
            for branch, name in zip(node.attr["branches"].list.func, names, strict=True):
                branch.name = name
            return
        keys = ("cond", "body") if site.kind is CallKind.LOOP else ("then_branch", "else_branch")
        for key, name in zip(keys, names, strict=True):
            node.attr[key].func.name = name
        if site.kind is CallKind.LOOP:
            # One turn at a time, so that what the turns report is in their order.
            node.attr["parallel_iterations"].i = 1

    def _framed(self, scope: Scope) -> str:
        """Rewrite the function of `scope` to report its values each time it runs: the new name."""
        edit = self._edited(scope)
        frame = Frame(len(self.frames), scope, tuple(items_of(scope)))
        self.frames.append(frame)
        edit.report(frame, self.token)
        return self._finish(edit)

    def _finish(self, edit: _Edit) -> str:
        name = f"{edit.definition.signature.name}__tfdbg_{self._serial}_{len(self.definitions)}"
        edit.definition.signature.name = name
        for attribute in IMPLEMENTATION & set(edit.definition.attr):
            del edit.definition.attr[attribute]
        self.definitions.append(edit.definition)
        return name


class _Edit:
    """A copy of one FunctionDef, being changed."""

    def __init__(self, scope: Scope) -> None:
        self.definition = copied(scope.body.definition)
        self.nodes = {node.name: node for node in self.definition.node_def}
        self._scope = scope
        self._waits: list[str] = []

    def make_stateful(self, node: Any) -> None:
        """Let the call `node` report: it must run, and what reports after this function waits for it."""
        node.op = _STATEFUL.get(node.op, node.op)
        if XLA in node.attr:
            del node.attr[XLA]
        self.run_always(node.name)
        self._waits.append(node.name)

    def drop_checks(self) -> None:
        """Let no op raise that XLA leaves out (tf2xla), should the function have to run without XLA."""
        for node in self.definition.node_def:
            if node.op == "Assert":
                sources = [
                    text.removeprefix("^").split(":")[0] for text in node.input if text[0] == "^" or ":" in text
                ]
                node.op = "NoOp"
                node.ClearField("attr")
                node.ClearField("input")
                node.input.extend(f"^{source}" for source in dict.fromkeys(sources))
            elif node.op == "CheckNumerics":
                node.op = "Identity"
                del node.attr["message"]

    def run_always(self, node: str) -> None:
        """Make `node` a side effect of the function."""
        if node not in self.definition.control_ret.values():
            name = self.free_name("tfdbg_effect", self.definition.control_ret)
            self.definition.control_ret[name] = node
            self.definition.signature.control_output.append(name)
        self.definition.signature.is_stateful = True

    def free_name(self, wanted: str, taken: Any) -> str:
        """`wanted`, numbered until it is not in `taken`."""
        return next(name for name in (f"{wanted}_{i}" for i in itertools.count()) if name not in taken)

    def give_back(self, wanted: str, dtype: int, reference: str) -> None:
        """Add an output."""
        name = wanted if wanted not in self.definition.ret else self.free_name(wanted, self.definition.ret)
        self.definition.signature.output_arg.add(name=name, type=dtype)
        self.definition.ret[name] = reference

    def add(self, wanted: str, op: str, inputs: list[str]) -> Any:
        """Add a node."""
        name = self.free_name(wanted, self.nodes)
        node = self.definition.node_def.add(name=name, op=op, input=inputs)
        self.nodes[name] = node
        return node

    def report(self, frame: Frame, token: bytes) -> None:
        """Add the report of the values of `frame`, after those of the branches and loops inside."""
        number = self.add("tfdbg_frame", "Const", [])
        number.attr["dtype"].type = _INT32
        number.attr["value"].tensor.dtype = _INT32
        number.attr["value"].tensor.tensor_shape.SetInParent()
        number.attr["value"].tensor.int_val.append(frame.number)
        given = [item for item in frame.items if item.reference is not None and item.shown is not None]
        inputs = [f"{number.name}:output:0", *(item.reference for item in given if item.reference is not None)]
        report = self.add("tfdbg_report", "EagerPyFunc", [*inputs, *(f"^{name}" for name in self._waits)])
        report.attr["token"].s = token
        report.attr["is_async"].b = False
        report.attr["Tin"].list.type.extend([_INT32, *(item.shown.dtype for item in given if item.shown is not None)])
        report.attr["Tout"].list.SetInParent()
        self.run_always(report.name)
        if self._is_condition():
            self._wait_for(report.name)

    def _is_condition(self) -> bool:
        call = self._scope.call
        return call is not None and call.kind is CallKind.LOOP and call.scopes[0] is self._scope

    def _wait_for(self, effect: str) -> None:
        """Give the first output only after `effect`: of the cond of a loop nobody else waits for side effects."""
        output = self.definition.signature.output_arg[0]
        after = self.add("tfdbg_after", "Identity", [self.definition.ret[output.name], f"^{effect}"])
        after.attr["T"].type = output.type
        self.definition.ret[output.name] = f"{after.name}:output:0"
