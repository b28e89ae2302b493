"""What implementations may do to their worker, and what the harness must make of it."""
