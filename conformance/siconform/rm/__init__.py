"""The simulated resource manager: verbs to speak, expectations to hear, a history of both."""
