"""An origin told: its first lines, the elements, the rows of the batch, what surrounds it, and its JSON."""
