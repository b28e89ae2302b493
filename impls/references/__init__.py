"""Adapters of the reference libraries, one file a library.

Each builds the library's own object from the plain vocabulary, and imports the library only when
it loads one.
"""
