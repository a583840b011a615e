"""The extension siconform.ext.v1: what a test wants to know or do and the SI has no call for."""
