"""Simulated providers and scripted models, for our tests and for everybody else's."""
