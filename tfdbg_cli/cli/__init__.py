"""The program `tfdbg`: its command line, the launching of scripts, the replay of bundles."""
