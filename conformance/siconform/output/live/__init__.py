"""Live display of a run: areas, current waits, remaining time, failures."""
