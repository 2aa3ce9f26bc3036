"""How fast, how large and how good: run from the repository's root, as README.md says."""
