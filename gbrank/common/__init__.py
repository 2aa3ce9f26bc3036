"""What every part uses: checks of arguments, the grammar of strings, hashes, Ctrl-C, extras."""
