"""Campaigns: fuzzing that goes on for as long as it is let, remembers, and tells what is new."""
