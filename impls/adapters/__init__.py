"""Adapters of libraries: the references, the fast peers of ``tokgate bench``, and all others.

One file a library. Each builds the library's own object from the plain vocabulary, and imports the
library only when it loads one. Who takes part in which command is said by ``impls.registry``.
"""
