"""One small program for each way to NaN or infinity that tfdbg knows, with what mends it: `--mended`."""
