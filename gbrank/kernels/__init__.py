"""Compiled loops over one query, and the one driver that runs them over all queries.

Everything here sees arrays only. A *kernel* handles one query whose documents stand in rank
order, best first, and has one fixed signature (`compiled.KERNEL`), so that the driver is compiled
once and any kernel, a user's included, is a pointer handed to it.
"""
