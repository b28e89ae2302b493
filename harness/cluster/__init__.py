"""Units of work, and who performs them: this machine, or the nodes of a Ray cluster."""
