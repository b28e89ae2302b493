"""Pre-tokenizing by many bytes at once: without this package all stays as it is."""
