"""The engine of kernels: their contract, the driver with its loop, sorting and compiling.

Everything here sees arrays only. A *kernel* handles one query, whose documents are in rank order,
best first; `contract` says what it is given. The driver compiles a copy of its loop for each
kernel; the functions of measures are passed to it as addresses.
"""
