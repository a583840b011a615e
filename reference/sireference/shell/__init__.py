"""Shell around the core: sockets, streams and the clock. One event loop owns the core."""
