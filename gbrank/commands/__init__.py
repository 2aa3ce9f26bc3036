"""The `gbrank` command: each command is a function, whose options are made from its signature.

Its docstring is the command's help. `gbrank.commands.cli` lists the commands.
"""
