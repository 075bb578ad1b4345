"""A function called so that its inner values come back, and those values kept, put in order and computed again."""
