"""The exit statuses of ``tokgate``: a contract that users script against."""

HOLDS, FAILS, USAGE, CANNOT_START, NOT_EXAMINED = 0, 1, 2, 3, 4
"""The gate holds; it does not; a mistake in what the user gave; an implementation could not be
started, or the run broke off; nothing that was examined is wrong, but something that the user named
was not examined."""
