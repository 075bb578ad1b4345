"""The commands: a registry and one file a verb. A command string in, a Document or a Decision out."""
