"""Questions to the tensors of a function, asked by ops that are added to it: of which tensors, and by which ops."""
