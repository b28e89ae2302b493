"""The reference libraries: one file a library."""
