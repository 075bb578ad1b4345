"""One run of a session: left alone, captured, watched, profiled."""
