"""Data of users: documents, queries, features; and which of them take part."""
