"""Runs made again from their `model.replay.ReplaySpec`, here or elsewhere, on copies of their variables."""
