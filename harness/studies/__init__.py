"""The studies: what the commands do with the engine."""
