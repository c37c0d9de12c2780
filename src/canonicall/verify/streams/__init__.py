"""Judge a stream by the event grammar of its wire format: what every client of it can read."""
