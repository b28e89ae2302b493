"""From a text to pre-tokens: special tokens, patterns as automata, and classes of characters."""
