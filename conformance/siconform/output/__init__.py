"""What a run or a checked trace shows and writes: screen, live view, JUnit, GitHub, JSON."""
