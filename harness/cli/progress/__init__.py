"""What a person sees while a command works: each is one consumer of the events."""
