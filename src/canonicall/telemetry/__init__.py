"""What operators see of agents: counters, spans and metrics. Nothing here is loaded unasked."""
