"""The ledger: a database of all runs, for campaigns that go on and for trends."""
