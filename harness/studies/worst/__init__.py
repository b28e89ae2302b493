"""``tokgate worst``: the search for inputs that cost an implementation the most."""
