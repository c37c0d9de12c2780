"""The command line. One verb, one file."""
