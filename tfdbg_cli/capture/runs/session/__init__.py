"""One run of a session: left alone, captured, watched, or profiled."""
