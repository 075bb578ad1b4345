"""What a program imports and calls: wrapped sessions and functions, the whole process, the choice of a front end."""
