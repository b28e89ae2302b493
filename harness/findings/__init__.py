"""From violations to findings: confirmed, minimised, grouped by root cause, with a reproducer."""
