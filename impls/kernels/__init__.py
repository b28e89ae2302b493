"""What the compiled algorithms share: tries, tables of merges, and tables on disk."""
