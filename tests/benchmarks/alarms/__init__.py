"""The parts of ``python -m tests.benchmarks.false_alarms``, one subject a file."""
