"""Graph functions: their calls rewritten so that every value is kept, or a watch answered."""
