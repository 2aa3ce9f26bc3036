"""Linear rankers and their solvers."""
