"""``tokgate prove``: whether two vocabularies tokenize every text alike."""
