"""Test vectors of a vocabulary, for those who test a tokenizer in any language without tokgate."""
