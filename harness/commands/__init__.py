"""The commands of ``tokgate``, one file each; they and ``harness/cli.py`` alone import reports."""
