"""What comes out: each report is a reader of a run's record."""
