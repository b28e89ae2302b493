"""``tokgate compare``: whether two vocabularies mean the same."""
