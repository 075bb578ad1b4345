"""Graph functions: intercepting outermost calls, and rewriting them so that every value is kept."""
