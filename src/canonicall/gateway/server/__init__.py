"""Processes, sockets and signals: a gateway on a port until it is told to end.

Nothing is imported here: `sockets` works without the packages that a server needs.
"""
