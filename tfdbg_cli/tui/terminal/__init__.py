"""The terminal under the screen: taken over, given back, its colours."""
