"""Keys as data: where each works, what it runs, what help says about it; what a user makes of them."""
