"""Runs made again from their `model.replay_spec.ReplaySpec`, here or elsewhere, on copies of their variables."""
