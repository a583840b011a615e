"""Randomised testing: random legal RM behaviour, checked by the monitors and for leaks."""
