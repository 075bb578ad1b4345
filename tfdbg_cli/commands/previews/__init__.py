"""What is known of a thing at a glance: one file for each kind of thing, and the table of them."""
