"""Which node, and which tensor, of one run is which of another; and the replicas of one run as runs of their own."""
