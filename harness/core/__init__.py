"""What all rooms know: outcomes, messages, comparisons, partitions, and how files are written."""
