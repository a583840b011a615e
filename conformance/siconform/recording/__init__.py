"""The record of an exchange: every element with its times and bytes, kept and read again."""
