"""Preemption: an ask that is entitled to more gets room that others have to give back."""
