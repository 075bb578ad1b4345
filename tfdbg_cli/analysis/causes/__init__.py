"""Why an op gave what is not finite, and what helps."""
