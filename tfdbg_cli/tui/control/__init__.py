"""What the screen shows, and what keys do to it."""
