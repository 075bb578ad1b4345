"""Two runs beside each other: where they part and why, tables, graphs, and the JSON of that."""
