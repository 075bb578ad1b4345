"""Settings a user can change: from the environment and a file, in this order of precedence."""
