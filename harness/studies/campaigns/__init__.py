"""Campaigns: one loop (choose, make, ask, keep what is new), its state, its database, its units."""
