"""What was given: rows, queries, features, and which of them take part."""
