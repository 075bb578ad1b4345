"""What a watch asks of each run, and what it keeps of the runs: filters, verdicts, results."""
