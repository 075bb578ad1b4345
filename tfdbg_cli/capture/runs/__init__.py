"""From an intercepted call to a run: of sessions, of functions, of eager code."""
