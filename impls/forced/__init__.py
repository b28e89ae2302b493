"""Forced tokens and their healing: one file a policy."""
