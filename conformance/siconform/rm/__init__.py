"""The simulated resource manager, registered or unregistered, and its session."""
