"""Compiling with Numba: once for all processes, again where a source has changed."""
