"""What users pass in: rows, queries, features; and which of them take part."""
