"""What the compiled algorithms share: tries, hashes, tables on disk, and processor instructions."""
