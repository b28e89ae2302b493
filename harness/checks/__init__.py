"""Properties that outcomes must have: one file a property."""
