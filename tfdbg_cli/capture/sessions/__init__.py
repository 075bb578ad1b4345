"""Sessions: intercepting their runs, and the two ways to take the tensors of one."""
