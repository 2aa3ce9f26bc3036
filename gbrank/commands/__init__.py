"""What `gbrank COMMAND` does, a file for each command; imported when the command is called.

The docstring of each file is the command's help, with USAGE. The function `add_options` adds the
command's arguments to its parser, and `run` takes what was parsed.
`gbrank.commands.cli` lists the commands.
"""
