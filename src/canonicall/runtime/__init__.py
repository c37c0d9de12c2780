"""An agent at work: the machine of `agent/` with an event loop around it."""
