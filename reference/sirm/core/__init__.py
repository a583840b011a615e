"""The pure resource manager: events and the time as input, effects as output."""
