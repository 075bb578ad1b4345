"""Lists of variables: of a stop, of a checkpoint, of two places beside each other."""
