"""The record of an exchange: every element with its times and bytes, written and read back."""
