"""The extension siconform.ext.v1: test operations for which the SI has no call."""
