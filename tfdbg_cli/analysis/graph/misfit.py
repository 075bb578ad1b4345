"""What arithmetic raises on inputs that do not fit their op: the graph and the values of a file may be anybody's.

Where a table of ops is asked about one op, this is caught, and the answer is that nobody can tell.
"""

from __future__ import annotations

MISFIT = (IndexError, KeyError, ValueError, TypeError, ZeroDivisionError, OverflowError)
