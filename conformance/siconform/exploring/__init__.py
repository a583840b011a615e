"""Exploring: arbitrary legal behaviour of an RM, judged by the monitors and by what is left."""
