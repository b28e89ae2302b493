"""A static site of all runs in a ledger: a page a library, a vocabulary, a defect, and trends."""
