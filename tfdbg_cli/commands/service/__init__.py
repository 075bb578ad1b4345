"""What every front end stands on: one stop asked and answered, without a screen and without a terminal."""
