"""Which rows of the batch are behind some elements of a tensor."""
