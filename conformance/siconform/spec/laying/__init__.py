"""Lays down in a checkout what a new revision of the SI needs, and lists what people decide."""
