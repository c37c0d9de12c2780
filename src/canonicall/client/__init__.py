"""HTTP to providers: one client for all of them, and the only sockets of the core."""
