"""Tests the built package as a user installs it."""
