"""The commands of ``tokgate``, one file each; what they record is shown by the reports."""
