"""The rules of the SI as pure code: no wire format, clock or network."""
