"""``tokgate field``: every tokenizer of the field against the reference, one run each."""
