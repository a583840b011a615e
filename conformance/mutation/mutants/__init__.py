"""The faults made on the wire, by what they are about."""
