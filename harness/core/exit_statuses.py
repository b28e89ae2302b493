"""The exit statuses of ``tokgate``: a contract that users script against."""

HOLDS, FAILS, USAGE, CANNOT_START = 0, 1, 2, 3
"""The gate holds; it does not; a mistake in what the user gave; an implementation could not be
started, or the run broke off."""
