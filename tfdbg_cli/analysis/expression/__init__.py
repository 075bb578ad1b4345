"""Expressions over tensors, as `eval` computes them: parsed, bounded, away from the program."""
