"""The complete linear front end: prompt, piped standard input, -c commands, --json."""
