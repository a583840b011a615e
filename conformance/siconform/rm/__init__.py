"""The simulated resource manager: registered or not yet, and the session it belongs to."""
