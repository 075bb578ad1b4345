"""What a function was made for and what it captured: arguments and variables, by the names users know."""
