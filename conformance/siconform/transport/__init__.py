"""Transport: channels, streams, the extension, and a dialect for each revision."""
