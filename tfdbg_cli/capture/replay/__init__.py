"""Runs made again from their `model.repetition.Repetition`, here or elsewhere, on copies of their variables."""
