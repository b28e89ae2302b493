"""Adapters of the field: other tokenizers on PyPI, one file a library, that take no part in a run
unless they are named. ``tokgate field`` names them all."""
