"""An array looked at on a screen, without anything of a terminal: rows of text with the names of their looks."""
