"""Op types by what they are: one set for each meaning, for everybody who asks the same.

What ops do besides computing stands in `effects`.
"""

from __future__ import annotations

# Calls of functions: in version 2 one op calls the functions that are the branches of a condition, or the cond and
# the body of a loop.
PLAIN_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
LOOPS = frozenset({"While", "StatelessWhile"})
CALLS = PLAIN_CALLS | BRANCHES | LOOPS

# Control flow of version 1 (core/ops/control_flow_ops.cc).
ENTER = frozenset({"Enter", "RefEnter"})
EXIT = frozenset({"Exit", "RefExit"})
SWITCH = frozenset({"Switch", "RefSwitch", "_SwitchN", "SwitchN"})
MERGE = frozenset({"Merge", "RefMerge"})
NEXT_ITERATION = frozenset({"NextIteration", "RefNextIteration"})
CONTROL_FLOW = ENTER | EXIT | SWITCH | MERGE | NEXT_ITERATION
