"""Releases of JavaScript's tokenizers, on node, by the stdio protocol."""
