"""A gateway under mixed load and faults for as long as is wanted: `make soak MINUTES=n`."""
