"""What a tensor holds: printed, one execution below another, or written to a file."""
