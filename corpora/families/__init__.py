"""Pathological inputs as functions of a size."""
