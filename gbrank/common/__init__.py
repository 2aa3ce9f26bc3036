"""Foundations of all parts: checks of arguments, the grammar of strings, hashes, Ctrl-C, extras."""
