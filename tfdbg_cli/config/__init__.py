"""Settings a person can change: from the environment and a file, in this order of precedence."""
