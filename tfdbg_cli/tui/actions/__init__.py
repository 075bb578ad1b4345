"""What a screen does at a key or a click, beyond running a command."""
