"""Proof that the checks can fail: a scheduler with one fault, and who notices."""
