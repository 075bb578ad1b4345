"""All that the screen shows, and what may be asked of it."""
