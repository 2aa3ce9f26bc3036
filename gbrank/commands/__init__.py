"""What `gbrank COMMAND` does, a file for each command; imported when the command is called.

Each file has the help texts USAGE, DETAILS and EXAMPLES, the function `add_options`, which adds
the command's arguments to its parser, and the function `run`, which takes what was parsed.
`gbrank.commands.cli` lists the commands.
"""
