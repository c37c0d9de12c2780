"""Who may ask, how much, and what is told of it: keys, limits, metrics, log, traces."""
