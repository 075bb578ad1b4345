"""Documents as files of other programs."""
