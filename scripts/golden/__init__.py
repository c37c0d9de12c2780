"""The net: what a change does to the bytes that canonicall writes and to what it reports.

`make golden-diff REV=...` runs one driver against a revision and against the working tree and
prints what differs; `make golden` stores a hash of every answer, so that a test can say that
something differs. CONTRIBUTING says when to use which.
"""
