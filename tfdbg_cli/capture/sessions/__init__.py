"""A session's graph and a call of it, read: what the call computes, reads, writes and calls."""
