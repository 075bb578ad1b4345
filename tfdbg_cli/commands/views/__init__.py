"""What several commands show: rows, columns, values, links."""
