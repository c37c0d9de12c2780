"""Probe an endpoint, learn how its tools are called, and write a profile of it."""
