"""What goes in: vocabularies, generators of cases, hostile families, grammars."""
