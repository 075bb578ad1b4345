"""Which tensors of a function have their statistics computed while it runs, and where these stand in its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.checking.frontier import Checkable, FunctionFrontier
from tfdbg_cli.capture.functions.checking.measures import MEASURED, is_told, numbers_of
from tfdbg_cli.capture.functions.checking.static_facts import StaticFacts
from tfdbg_cli.capture.functions.checking.updated_variables import UpdatedVariable, region_of, updated_variables
from tfdbg_cli.capture.functions.definition.body import Output, ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, CallKind, Scope
from tfdbg_cli.capture.functions.definition.mergeable import SAME, rounding_apart
from tfdbg_cli.capture.functions.definition.shown_values import Shown, items_of
from tfdbg_cli.capture.functions.definition.undefined import may_be_undefined
from tfdbg_cli.capture.functions.measuring.elements import ElementSources
from tfdbg_cli.capture.functions.measuring.measured_tensors import Measured, StatisticsLayout
from tfdbg_cli.capture.functions.optimized.twins import has_twin
from tfdbg_cli.capture.questions.question import element_count
from tfdbg_cli.capture.tf.opaque import HANDLE
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import gone
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import FAKES, NORMALIZATIONS, RESHAPES
from tfdbg_cli.ops.transparent_shapes import Shape

Apart: TypeAlias = frozenset[tuple[str, ReferenceTarget]]

_PRODUCTS = NORMALIZATIONS | {
    "BatchMatMul", "BatchMatMulV2", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "Einsum", "MatMul",
}  # fmt: skip
_IN_TURNS = gone("It stands in a branch or a loop, of which no statistics are recorded: it need not have run.")
_MERGED = gone("TensorFlow computes it in one with what reads it, so that no statistics of it were computed.")
_UNDEFINED = gone("It may mean nothing, so that no statistics of it were computed.")
_GAPS = {
    _MERGED: "computed in one with what reads them (products that are fused)",
    _IN_TURNS: "in branches and loops, which need not have run",
    _UNDEFINED: "such that they may mean nothing",
}
_NO_NUMBERS = gone("Of tensors of this type no statistics are computed.")


class _Value:
    """Marks a tensor whose value is returned in the place of statistics."""


_VALUE = _Value()
Found: TypeAlias = Checkable | NoValue | _Value


@dataclass(frozen=True)
class _Listed:
    """A tensor in the list of a run, with what is `found` of it: the check that computes its statistics, or a reason.

    Its elements are those that the check reads, negated if `negated`, each repeated `times` times.
    """

    shown: Shown
    shape: Shape
    found: Found
    negated: bool = False
    times: int = 1


@dataclass
class MeasurePlan:
    """Which tensors of runs of `root` have statistics computed; `apart` are not to be read (`WantedRewrite.apart`).

    Of values `left_out` there are no statistics, since they can neither be read nor be computed once more.
    Nodes for whose names `chosen` is true return their values instead. `beyond` are chosen tensors that cannot, since
    they are computed in branches and loops.
    """

    root: Scope
    facts: StaticFacts
    chosen: Callable[[str], bool]
    apart: Apart = frozenset()
    left_out: Apart = frozenset()
    beyond: list[TensorName] = field(default_factory=list)
    _checks: dict[Scope, list[Checkable]] = field(default_factory=dict)
    _shapes: dict[TensorName, Shape] = field(default_factory=dict)  # of variables that are read, by their handles
    _made: dict[tuple[Scope, object], Checkable] = field(default_factory=dict)
    _shown: list[_Listed] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.updated = tuple(updated_variables(self.root))
        self._sources = ElementSources(self.facts, self.updated)
        self.apart |= {
            (scope.body.name, source) for scope in self.root.all() for source in rounding_apart(scope, with_nan=True)
        }
        for position, name in enumerate(self.root.argument_names):
            output = self.root.argument(position)
            if output.returnable:
                self._show(self.root, TensorName(name, 0), ARGUMENT, "", output)
        self._walk(self.root)
        for variable in self.updated:
            self._show_updated(variable)

    @property
    def frontier(self) -> FunctionFrontier:
        """The tensors to compute statistics of, by scope, in the form in which a watch has its checks."""
        return FunctionFrontier(self._checks, len(self._shown), self.updated)

    @property
    def layout(self) -> StatisticsLayout:
        """Where each statistic stands."""
        places: dict[int, int] = {}
        self._place(self.root, 0, places)
        return StatisticsLayout([_measured(listed, places) for listed in self._shown])

    @property
    def given(self) -> frozenset[TensorName]:
        """The values that the function must return; those of arguments and variables are at hand without that."""
        at_hand = {ARGUMENT, UPDATED_VARIABLE}
        return frozenset(
            one.shown.name for one in self._shown if one.found is _VALUE and one.shown.op_type not in at_hand
        )

    @property
    def variables(self) -> dict[TensorName, int]:
        """The variables whose values after their update are wanted, with the positions of their handles."""
        wanted = {
            one.shown.name for one in self._shown if one.found is _VALUE and one.shown.op_type == UPDATED_VARIABLE
        }
        return {
            variable.name: self.root.argument_positions[variable.scope.resolve(variable.handle)]
            for variable in self.updated
            if variable.name in wanted
        }

    @property
    def gaps(self) -> str:
        """A sentence that says of how many tensors there are no statistics, and why; empty where there are of all."""
        counts = Counter(one.found for one in self._shown if isinstance(one.found, NoValue) and one.found in _GAPS)
        if not counts:
            return ""
        reasons = ", ".join(f"{counts[lack]:,} {reason}" for lack, reason in _GAPS.items() if counts[lack])
        of = f"Of {counts.total():,} of its {len(self._shown):,} tensors there are no statistics"
        return f"{of}: {reasons}."

    def wanted(self, wanted: WantedRewrite) -> WantedRewrite:
        """`wanted`, with these statistics."""
        given = wanted.given | self.given
        return WantedRewrite(None, self.frontier, wanted.values, given, wanted.early, self.apart, measured=True)

    def _place(self, scope: Scope, at: int, places: dict[int, int]) -> int:
        """Note in `places` where the numbers of each check in `scope` begin, from `at` on; returns where they end.

        The order is that of `Measures`: rows, elements of small tensors, called functions.
        """
        checks = self._checks.get(scope, ())
        for small in (False, True):
            for check in checks:
                if is_told(check.dtype, check.shape) is small:
                    places[id(check)] = at
                    at += numbers_of(check.dtype, check.shape)
        for site in scope.calls.values():
            if site.kind is CallKind.PLAIN:
                at = self._place(site.scopes[0], at, places)
        return at

    def _walk(self, scope: Scope) -> None:
        for node in scope.needed.nodes:
            if node.name in scope.needed.hidden or node.op in FAKES:
                continue
            site = scope.calls.get(node.name)
            if site is not None and site.kind is CallKind.PLAIN:
                self._walk(site.scopes[0])
                continue
            for inner in () if site is None else site.scopes:
                self._leave_out(inner)
            read = scope.needed.slots[node.name]
            for slot, output in enumerate(scope.body.outputs(node.name)):
                name = TensorName(scope.name_of(node.name), slot)
                if node.op == "ReadVariableOp":
                    self._shapes[scope.resolve(scope.body.data_inputs(node)[0])] = self.facts.shape(name)
                if site is None or site.kind is CallKind.LOOP or slot in read:
                    undefined = may_be_undefined(scope, node, slot)
                    self._show(scope, name, node.op, node.device, output, _UNDEFINED if undefined else None)

    def _leave_out(self, scope: Scope) -> None:
        """List what is computed in a branch or a loop, without statistics."""
        for item in items_of(scope):
            if item.site is not None and item.shown is None:
                for inner in item.site.scopes:
                    self._leave_out(inner)
            elif item.shown is not None:
                self._shown.append(_Listed(item.shown, None, HANDLE if item.reference is None else _IN_TURNS))
                if item.reference is not None and self.chosen(item.shown.name.node):
                    self.beyond.append(item.shown.name)

    def _show(
        self, scope: Scope, name: TensorName, op_type: str, device: str, output: Output, lack: NoValue | None = None
    ) -> None:
        shape = self.facts.shape(name)
        shown = Shown(name, op_type, device, output.dtype)
        given = self.chosen(name.node)
        if not output.returnable:
            lack, given = HANDLE, False
        elif element_type(output.dtype).name not in MEASURED and not given:
            lack = _NO_NUMBERS
        if lack is not None or given:
            self._shown.append(_Listed(shown, shape, _VALUE if given or lack is None else lack))
            return
        of = self._sources.of(scope, output.reference)
        found = self._check(of.scope, of.reference, device)
        if found is _MERGED:  # the tensor itself may be readable even if the source of its elements is not
            self._shown.append(_Listed(shown, shape, self._check(*scope.made_at(output.reference), device)))
        else:
            self._shown.append(_Listed(shown, shape, found, of.negated, of.times))

    def _check(self, scope: Scope, reference: str, device: str) -> Checkable | NoValue:
        source = scope.body.source(reference)
        if not self._is_readable(scope, source):
            return _MERGED
        key = scope, _read_of(scope, source) or source
        found = self._made.get(key)
        if found is None:
            dtype = scope.body.type_of(reference)
            name = scope.resolve(reference)
            found = Checkable(name, scope, reference, dtype, device, shape=self.facts.shape(name))
            self._made[key] = found
            self._checks.setdefault(scope, []).append(found)
        return found

    def _show_updated(self, variable: UpdatedVariable) -> None:
        """List a variable after its update; its statistics are those of the assigned tensor, if it was assigned."""
        shown = Shown(variable.name, UPDATED_VARIABLE, variable.device, variable.dtype)
        shape = self._shapes.get(variable.scope.resolve(variable.handle))
        chosen = self.chosen(variable.name.node)
        if region_of(variable.scope) is not self.root:
            self._shown.append(_Listed(shown, shape, _IN_TURNS))
            self.beyond.extend([variable.name] if chosen else [])
        elif chosen:
            self._shown.append(_Listed(shown, shape, _VALUE))
        elif element_type(variable.dtype).name not in MEASURED:
            self._shown.append(_Listed(shown, shape, _NO_NUMBERS))
        else:
            known = next((one for one in self._shown if one.shown.name == variable.same_as), None)
            if known is None or not isinstance(known.found, Checkable):
                found = Checkable(variable.name, variable.scope, "", variable.dtype, "", variable, shape)
                self._checks.setdefault(variable.scope, []).append(found)
                known = _Listed(shown, shape, found)
            self._shown.append(replace(known, shown=shown, shape=shape))

    def _is_readable(self, scope: Scope, source: ReferenceTarget) -> bool:
        """Whether `source` may be read, or computed once more at no great cost."""

        def merged(found: ReferenceTarget) -> bool:
            return found.node is not None and (scope.body.name, found) in self.apart

        def further(found: ReferenceTarget) -> list[ReferenceTarget]:
            if not merged(found):
                return []
            return [scope.body.source(text) for text in scope.body.data_inputs(scope.body.nodes[found.node or ""])]

        def passed_on(found: ReferenceTarget) -> list[ReferenceTarget]:
            node = None if found.node is None else scope.body.nodes[found.node]
            if node is None or node.op not in SAME | RESHAPES:
                return further(found)
            return [scope.body.source(scope.body.data_inputs(node)[found.slot])]

        if any((scope.body.name, found) in self.left_out for found in reached([source], passed_on)):
            return False
        read = list(reached([source], further))
        again = [scope.body.nodes[found.node or ""] for found in read if merged(found)]
        return all(has_twin(node) and node.op not in _PRODUCTS for node in again)


def _measured(listed: _Listed, places: Mapping[int, int]) -> Measured:
    """`listed` with the place of its numbers; `places` has the places of the checks, by their ids."""
    found = listed.found
    if isinstance(found, Checkable):
        told, size = is_told(found.dtype, found.shape), element_count(found.shape)
        at = places[id(found)]
        return Measured(listed.shown, listed.shape, None, at, told, False, size, listed.negated, listed.times)
    lack = found if isinstance(found, NoValue) else None
    return Measured(listed.shown, listed.shape, lack, -1, False, lack is None)


def _read_of(scope: Scope, source: ReferenceTarget) -> object:
    """A key that is equal for reads of a variable that read the same value; None for any other op."""
    node = None if source.node is None else scope.body.nodes[source.node]
    if node is None or node.op != "ReadVariableOp":
        return None
    waits = frozenset(text for text in node.input if text.startswith("^") and _acts(scope, text[1:]))
    return "read", scope.body.source(scope.body.data_inputs(node)[0]), waits


def _acts(scope: Scope, node: str) -> bool:
    return bool(scope.body.nodes[node].op != "ReadVariableOp")
