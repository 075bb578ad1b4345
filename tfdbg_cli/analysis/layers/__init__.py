"""Nodes by Keras layer and name scope, whatever calls, gradients and optimizers made of their names."""
