"""What only many runs tell: which are unwell, a tensor run after run, how large gradients and updates were."""
