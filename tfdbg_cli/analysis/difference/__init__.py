"""Where two runs part: their tensors paired, compared, and the first that differs for a reason of its own."""
